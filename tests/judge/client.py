#!/usr/bin/env python3
"""client.py PROGRAM SAMPLES FOLDER: the client of PyPI's package mcp, installed into a virtual environment in FOLDER, starts
`serve --mcp`, lists its tools and calls them. Skipped (77) where the package cannot be had."""
import os
import subprocess
import sys

program, samples, folder = (os.path.realpath(word) for word in sys.argv[1:4])
python = os.path.join(folder, "bin", "python")
try:
    import mcp
except ImportError:
    if os.path.realpath(sys.prefix) == folder:
        sys.exit("mcp is installed and cannot be imported")
    def works():
        return os.path.exists(python) and subprocess.run([python, "-c", "import mcp"], capture_output=True).returncode == 0
    if not works():
        for command in ([sys.executable, "-m", "venv", folder], [python, "-m", "pip", "install", "--quiet", "mcp"]):
            if subprocess.run(command, capture_output=True, timeout=600).returncode:
                print("the package mcp cannot be installed here")
                sys.exit(77)
    os.execv(python, [python, *sys.argv])

import asyncio
import tempfile

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


def failed(result):
    """Members have other names from version 2 of the package on."""
    return result.is_error if hasattr(result, "is_error") else result.isError


def structure(result):
    return result.structured_content if hasattr(result, "structured_content") else result.structuredContent


async def run(home):
    server = StdioServerParameters(command=program, args=["serve", "--mcp"], env={**os.environ, "XDG_DATA_HOME": home})
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        names = sorted(tool.name for tool in (await session.list_tools()).tools)
        assert names == ["check", "judge", "show", "tune"], names
        shape = {"N": 32, "M": 32, "K": 16}
        space = samples + "/mine.lua"
        checked = await session.call_tool("check", {"space": space, "set": shape})
        assert not failed(checked), checked
        await session.send_ping()
        if "llvmpipe" not in checked.content[0].text and '"device":null' in checked.content[0].text:
            return
        judged = await session.call_tool("judge", {"file": samples + "/mine.comp", "space": space, "set": shape, "runs": 4, "seed": 1})
        assert not failed(judged) and structure(judged)["verdict"] == "right", judged
        wrong = os.path.join(home, "wrong.comp")
        with open(samples + "/mine.comp") as file, open(wrong, "w") as out:
            out.write(file.read().replace("uint k = 0;", "uint k = 1;"))
        judged = await session.call_tool("judge", {"file": wrong, "space": space, "set": shape, "runs": 4, "seed": 1})
        assert not failed(judged) and structure(judged)["verdict"] == "wrong", judged
        tuned = await session.call_tool("tune", {"space": space, "set": shape, "trials": 2, "seed": 1})
        assert not failed(tuned), tuned
        shown = await session.call_tool("show", {"session": structure(tuned)["session"]})
        assert structure(shown)["session"]["trials"] == 2, shown


with tempfile.TemporaryDirectory() as home:
    asyncio.run(run(home))
