#!/usr/bin/env python3
"""What torch reaches on the operations of first.sh (products) and second.sh (layers): a line of JSON for each.

A time is the best of five rounds of at least 0.05 s, by CUDA events; TF32 is off.
"""
import json
import sys

ROUNDS, ROUND_SECONDS = 5, 0.05


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
    repeats = max(1, int(ROUND_SECONDS / timed(2)))
    return min(timed(repeats) for _ in range(ROUNDS))


def products(torch, new):
    """Name, function, operations, bytes of each row."""
    n, half = 4096, torch.float16
    for name, dtype in (("f32", torch.float32), ("f16", half), ("bf16", torch.bfloat16)):
        a, b = new(n, n, dtype=dtype), new(n, n, dtype=dtype)
        yield f"{name} nn", lambda: a @ b, 2 * n**3, 0
        yield f"{name} nt", lambda: a @ b.t(), 2 * n**3, 0
    c, d = (torch.randint(-8, 8, (n, n), device="cuda", dtype=torch.int8) for _ in range(2))
    yield "i8 nt", lambda: torch._int_mm(c, d.t()), 2 * n**3, 0
    for columns in (1, 8):
        a, b = new(32000, n, dtype=half), new(n, columns, dtype=half)
        yield f"f16 32000x{n} by {columns}", lambda: a @ b, 2 * 32000 * n * columns, 2 * 32000 * n


def layers(torch, new):
    import torch.nn.functional as functional

    half = torch.float16
    for name, memory in (("nchw", torch.contiguous_format), ("nhwc", torch.channels_last)):
        x, w = (new(*s, dtype=half).to(memory_format=memory) for s in ((16, 64, 56, 56), (64, 64, 3, 3)))
        yield f"convolution f16 {name}", lambda: functional.conv2d(x, w, None, 1, 1), 2 * 16 * 64 * 56 * 56 * 64 * 9, 0
    q, k, v = (new(1, 32, 512, 128, dtype=half) for _ in range(3))
    yield "attention f16", lambda: functional.scaled_dot_product_attention(q, k, v), 4 * 32 * 512 * 512 * 128, 0
    import torchvision

    model = torchvision.models.resnet50().eval().to("cuda", half).to(memory_format=torch.channels_last)
    image = new(1, 3, 224, 224, dtype=half).to(memory_format=torch.channels_last)
    with torch.inference_mode():
        for _ in range(3):
            model(image)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            model(image)
    yield "ResNet-50 f16, a CUDA graph", graph.replay, 8178892800, 0


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in ("products", "layers"):
        sys.exit(__doc__)
    import torch

    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True

    def new(*shape, dtype=torch.float32):
        return torch.randn(*shape, device="cuda").to(dtype)

    for name, run, flop, moved in {"products": products, "layers": layers}[sys.argv[1]](torch, new):
        try:
            seconds = seconds_of(torch, run)
        except Exception as error:  # one that this torch or card lacks does not stop the others
            print(json.dumps({"torch": name, "error": str(error)[:160]}), flush=True)
            continue
        row = {"torch": name, "us": round(seconds * 1e6, 2), "tflops": round(flop / seconds / 1e12, 3)}
        if moved:
            row["gbs"] = round(moved / seconds / 1e9, 1)
        print(json.dumps(row), flush=True)


main()
