#!/usr/bin/env python3
"""lines.py PROGRAM SAMPLES: `serve --mcp` by plain lines: what is asked is answered, what is wrong has an error and ends nothing,
notifications have no answer, and no argument becomes an option."""
import json
import os
import subprocess
import sys
import tempfile

program, samples = os.path.realpath(sys.argv[1]), os.path.realpath(sys.argv[2])


def call(number, name, arguments):
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": name, "arguments": arguments}}


shape = {"N": 32, "M": 32, "K": 16}
lines = [
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2024-11-05", "capabilities": {}}},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": "two", "method": "tools/list"},
    call(3, "check", {"space": samples + "/mine.lua", "set": shape, "device": "none"}),
    call(4, "check", {"space": "--help"}),
    call(5, "check", {"space": samples + "/mine.lua", "device": "none --glsl"}),
    call(6, "check", {"space": samples + "/mine.lua", "set": {"N=8 --x": 1}}),
    call(7, "check", {"space": ["mine.lua"]}),
    call(8, "check", {"space": samples + "/mine.lua", "db": "x"}),
    call(9, "check", {}),
    call(10, "show", {"session": -1}),
    call(11, "tune", {"space": samples + "/mine.lua", "trials": 100000}),
    call(12, "rm", {"session": 1}),
    call(13, "show", {"session": 4}),
    {"jsonrpc": "2.0", "id": 14, "method": "resources/list"},
    {"jsonrpc": "2.0", "id": 15, "method": "ping"},
    {"jsonrpc": "1.0", "id": 16, "method": "ping"},
    call(18, "show", {"session": 2**63}),
    [1],
    [{"jsonrpc": "2.0", "id": 19, "method": "ping"}, {"jsonrpc": "2.0", "method": "ping"}],
]
text = "\n".join(json.dumps(line) for line in lines) + "\nno JSON\n" + "x" * (1 << 21) + "\n" + '{"jsonrpc": "2.0", "id": 17, "method": "ping"}\n'
text += '{"jsonrpc": "2.0", "id": "\udcff\x7f", "method": "ping"}\n{"cut'
with tempfile.TemporaryDirectory() as home:
    run = subprocess.run([program, "serve", "--mcp"], input=text, capture_output=True, text=True, errors="surrogateescape", timeout=300, env={**os.environ, "XDG_DATA_HOME": home})
    refused = subprocess.run([program, "serve"], capture_output=True, text=True)
answers = [json.loads(line) for line in run.stdout.splitlines()]
by_id = {answer["id"]: answer for answer in answers if answer["id"] is not None}


def expect(fine, what):
    if not fine:
        sys.exit("%s\n%s%s" % (what, run.stdout, run.stderr))


expect(run.returncode == 0 and refused.returncode == 2, "exit codes %d, %d" % (run.returncode, refused.returncode))
expect(by_id[1]["result"]["protocolVersion"] == "2024-11-05" and by_id[1]["result"]["serverInfo"]["name"] == "tilewalk", "initialize")
tools = {tool["name"]: tool for tool in by_id["two"]["result"]["tools"]}
expect(sorted(tools) == ["check", "judge", "show", "tune"], "the tools")
expect(tools["judge"]["inputSchema"]["required"] == ["file", "space"], "what judge needs")
checked = by_id[3]["result"]
expect(not checked["isError"] and checked["structuredContent"]["size"] == json.loads(checked["content"][0]["text"])["size"], "check")
expect(by_id[4]["result"]["isError"] and "'--help'" in by_id[4]["result"]["content"][0]["text"], "a space that is named --help")
expect(by_id[5]["result"]["isError"] and "version 450" not in by_id[5]["result"]["content"][0]["text"], "a device with an option in it")
for number in 6, 7, 8, 9, 10, 11, 12, 18:
    expect(by_id[number]["error"]["code"] == -32602, "call %d" % number)
expect(by_id[13]["result"]["isError"], "a session that is not there")
expect(by_id[14]["error"]["code"] == -32601 and by_id[16]["error"]["code"] == -32600, "methods")
expect(all(by_id[number]["result"] == {} for number in (15, 17, 19, "�\x7f")), "ping")
expect([answer["error"]["code"] for answer in answers if answer["id"] is None] == [-32600, -32700, -32700, -32700], "lines that are no requests")
expect(len(answers) == len(lines) - 1 + 5, "as many answers as questions")
