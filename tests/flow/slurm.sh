#!/bin/sh
# slurm.sh PROGRAM: a run that Slurm gives its machine (docs/guide/fleet.md), by a munged, a slurmctld and a slurmd of its own on
# loopback, and the script of docs/fleet/slurm.sbatch.
program=$1 here=$(cd "$(dirname "$0")" && pwd) || exit 1
PATH=$PATH:/usr/sbin:/sbin
for needed in munged mungekey slurmctld slurmd srun sbatch; do
    command -v $needed >/dev/null || {
        echo "skipped: there is no $needed (packages slurm-wlm, munge)"
        exit 77
    }
done
folder=$(mktemp -d) || exit 1
munged='' controller='' daemon=''
finish() {
    for process in $daemon $controller $munged; do
        kill "$process" 2>/dev/null && wait "$process" 2>/dev/null
    done
    rm -rf "$folder"
}
trap finish EXIT
trap 'exit 1' TERM INT

fail() {
    echo "$1"
    tail -n 20 "$folder"/*.log
    exit 1
}

# until SECONDS COMMAND...: waits for an event, a look every tenth of a second
until_it() {
    left=$(($1 * 10))
    shift
    until "$@" >/dev/null 2>&1; do
        left=$((left - 1))
        [ $left -gt 0 ] || return 1
        sleep 0.1
    done
}

mkdir "$folder/state" "$folder/spool"
chmod 755 "$folder"
mungekey --create --keyfile "$folder/key" >/dev/null 2>&1 || fail 'no key'
munged --foreground --force --socket "$folder/munge" --key-file "$folder/key" --pid-file "$folder/munged.pid" \
    --seed-file "$folder/seed" --log-file "$folder/munged.log" 2>"$folder/munged.err.log" &
munged=$!
until_it 20 test -S "$folder/munge" || fail 'munged did not begin'

user=$(id -un) name=$(hostname -s) port=$((20000 + $$ % 20000))
cat >"$folder/slurm.conf" <<TEXT
ClusterName=tilewalk
SlurmctldHost=$name(127.0.0.1)
SlurmUser=$user
SlurmdUser=$user
SlurmctldPort=$port
SlurmdPort=$((port + 1))
AuthType=auth/munge
AuthInfo=socket=$folder/munge
CredType=cred/munge
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
NodeName=$name NodeAddr=127.0.0.1 CPUs=1 State=UNKNOWN
PartitionName=all Nodes=$name Default=YES State=UP
TEXT
export SLURM_CONF="$folder/slurm.conf"
slurmctld -D -f "$SLURM_CONF" >"$folder/slurmctld.log" 2>&1 &
controller=$!
slurmd -D -N "$name" -f "$SLURM_CONF" >"$folder/slurmd.log" 2>&1 &
daemon=$!
idle() { sinfo -h -o %T | grep -q idle; }
until_it 60 idle || fail 'the node did not become idle'

export TILEWALK_DB="$folder/results.db" XDG_CACHE_HOME="$folder/cache"
set -- tune "$here/small.lua" --source synthetic:rugged --strategy walk --seed 5 --trials 20 --json
"$program" "$@" >"$folder/here" 2>"$folder/here.log" || fail 'the run here failed'
"$program" "$@" --on "exec:srun --quiet --unbuffered -n 1 '$program' agent" >"$folder/there" 2>"$folder/there.log" || fail 'the run by srun failed'
grep -q '"place":"exec:srun' "$folder/there" || grep -q '(exec:srun' "$folder/there" || fail 'no machine of srun measured'
values() { sed -n 's/.*"event": *"trial".*"config": *\({[^}]*}\).*/\1/p' "$1"; }
values "$folder/here" >"$folder/a"
values "$folder/there" >"$folder/b"
[ "$(wc -l <"$folder/a")" = 20 ] || fail "no 20 trials: $(head -c 600 "$folder/here")"
cmp "$folder/a" "$folder/b" || fail 'the sequences differ'

until_it 60 idle || fail 'the allocation of srun was not given back'

# The script of the manual, with this program.
sed "s|^exec tilewalk|exec '$program'|; s|^#SBATCH --gres.*||" "$here/../../docs/fleet/slurm.sbatch" >"$folder/job.sbatch"
[ "$(grep -c "exec '$program'" "$folder/job.sbatch")" = 1 ] || fail 'the script of the manual does not start tilewalk'
sbatch -o "$folder/job.log" --wait "$folder/job.sbatch" "$here/small.lua" --source synthetic:rugged --trials 5 >"$folder/sbatch.log" 2>&1 ||
    fail 'the script of the manual failed'
grep -q 'trials  5' "$folder/job.log" || fail 'the script of the manual has no 5 trials'
