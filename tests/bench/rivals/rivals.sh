#!/bin/sh
# rivals.sh FOLDER [REPEATS]: searches from PyPI on the recordings in a folder (rivals.py), in an environment in the user's
# cache. The product and its tests need none of it.
set -eu
here=$(dirname "$0")
environment=${XDG_CACHE_HOME:-$HOME/.cache}/tilewalk/rivals
if [ ! -x "$environment/bin/python" ]; then
    python3 -m venv "$environment"
    "$environment/bin/pip" install --quiet 'optuna>=5,<6' 'cmaes>=0.13' numpy
fi
exec "$environment/bin/python" "$here/rivals.py" "$@"
