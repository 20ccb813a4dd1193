#!/usr/bin/env python3
"""What the vendor's libraries reach on the operations of `./dev bench kernels`, beside what tilewalk found.

    ./dev bench kernels > ours.md              on a machine with a GPU
    tests/bench/vendor.py ours.md              there too, with torch: cuBLAS, cuDNN; a table with ratios, then JSON
    tests/bench/vendor.py --parse ours.md      only what is read of it; needs no torch

TF32 is off everywhere. A figure is the best of several rounds of many runs, timed by CUDA events.
"""
import json
import re
import sys

SIZES = {
    "matmul": ["N", "M", "K"],
    "batch_matmul": ["batch", "N", "M", "K"],
    "conv2d": ["batch", "in_channels", "height", "width", "out_channels", "kernel_h", "kernel_w"],
}
ROUNDS, ROUND_SECONDS = 7, 0.2


def parse_operation(text):
    """'conv2d f32 nchw 1x64x28x28x64x3x3 padding=1' -> a dictionary; None for what has no counterpart here."""
    words = text.split()
    if words[0] not in SIZES:
        return None
    operation = {"kind": words[0], "type": words[1], "layout": words[2], "stride": 1, "padding": 0, "dilation": 1, "groups": 1}
    operation.update(zip(SIZES[words[0]], map(int, words[3].split("x"))))
    for word in words[4:]:
        name, value = word.split("=")
        operation[name] = int(value) if re.fullmatch(r"\d+", value) else value
    return operation


def flop(o):
    if o["kind"] != "conv2d":
        return 2 * o.get("batch", 1) * o["N"] * o["M"] * o["K"]

    def out(size, kernel):
        return (o[size] + 2 * o["padding"] - o["dilation"] * (o[kernel] - 1) - 1) // o["stride"] + 1

    return (2 * o["batch"] * o["out_channels"] * out("height", "kernel_h") * out("width", "kernel_w")
            * o["in_channels"] // o["groups"] * o["kernel_h"] * o["kernel_w"])


def rows_of(path):
    """The rows of the table: preset, operation as text and parsed, GFLOPS."""
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            if len(cells) < 6 or not re.fullmatch(r"[\d.]+", cells[5]):
                continue
            operation = parse_operation(cells[1])
            if operation:
                yield {"preset": cells[0], "title": cells[1], "operation": operation, "flop": flop(operation),
                       "tflops": float(cells[5]) / 1e3}


def prepare(torch, o):
    """A function that runs the operation once."""
    dtype = {"f32": torch.float32, "f16": torch.float16}[o["type"]]

    def new(*shape):
        return torch.rand(*shape, device="cuda", dtype=dtype)

    if o["kind"] == "conv2d":
        x = new(o["batch"], o["in_channels"], o["height"], o["width"])
        w = new(o["out_channels"], o["in_channels"] // o["groups"], o["kernel_h"], o["kernel_w"])
        if o["layout"] == "nhwc":
            x, w = (t.to(memory_format=torch.channels_last) for t in (x, w))
        return lambda: torch.nn.functional.conv2d(x, w, None, o["stride"], o["padding"], o["dilation"], o["groups"])
    batch = [o["batch"]] if o["kind"] == "batch_matmul" else []
    a = new(*batch, o["N"], o["K"]) if o["layout"][0] == "n" else new(*batch, o["K"], o["N"]).transpose(-1, -2)
    b = new(*batch, o["K"], o["M"]) if o["layout"][1] == "n" else new(*batch, o["M"], o["K"]).transpose(-1, -2)
    return lambda: torch.matmul(a, b)


def seconds_of(torch, run):
    def timed(repeats):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(repeats):
            run()
        end.record()
        end.synchronize()
        return start.elapsed_time(end) / 1e3 / repeats

    timed(3)
    repeats = max(1, int(ROUND_SECONDS / timed(3)))
    return min(timed(repeats) for _ in range(ROUNDS))


def main():
    words = [word for word in sys.argv[1:] if word != "--parse"]
    if len(words) != 1:
        sys.exit(__doc__)
    rows = list(rows_of(words[0]))
    if "--parse" in sys.argv:
        print(json.dumps(rows))
        return
    import torch

    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    print("| preset | operation | tilewalk TFLOPS | library TFLOPS | ratio |\n|---|---|---:|---:|---:|")
    for row in rows:
        row["library_tflops"] = row["flop"] / seconds_of(torch, prepare(torch, row["operation"])) / 1e12
        row["ratio"] = row["tflops"] / row["library_tflops"]
        print(f"| {row['preset']} | {row['title']} | {row['tflops']:.3f} | {row['library_tflops']:.3f} | {row['ratio']:.2f} |")
    print()
    print(json.dumps({"device": torch.cuda.get_device_name(), "torch": torch.__version__, "tf32": False, "rows": rows}))


main()
