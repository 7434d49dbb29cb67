"""The matrix products and the attention of examples/wgmma_*.py beside torch (cuBLAS and its fused attention), TFLOP/s.

    python benchmarks/tiles.py

Medians of launches between events, maps of the tiles made beforehand. Needs torch, and a GPU of compute capability 9.0.
"""
import statistics
import sys
from pathlib import Path

import torch
from timing import print_table

from cujit import bfloat16, cuda, float16, uint8

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
import wgmma_attention  # noqa: E402
import wgmma_matmul  # noqa: E402

PRODUCTS = {   # options of make_matmul, the operands' and the result's type in torch
    "float16": (dict(dtype=float16, result=float16), torch.float16, torch.float16),
    "bfloat16": (dict(dtype=bfloat16, result=bfloat16), torch.bfloat16, torch.bfloat16),
    "e4m3": (dict(dtype=uint8, kind="e4m3", result=bfloat16), torch.float8_e4m3fn, torch.bfloat16),
}


def median_ms(run, repeats=20, together=5):
    for _ in range(3):
        run()
    torch.cuda.synchronize()
    times = []
    for _ in range(repeats):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(together):
            run()
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end) / together)
    return statistics.median(times)


def device_array(tensor):
    if tensor.dtype == torch.float8_e4m3fn:
        tensor = tensor.view(torch.uint8)
    return cuda.from_dlpack(tensor)


def largest_difference(got, want):
    return ((got.float() - want.float()).abs().max() / want.float().abs().max()).item()


def row(name, flops, ours, theirs, got):
    """ours() writes into got, theirs() returns its result."""
    ours()
    difference = largest_difference(got, theirs())
    own, other = median_ms(ours), median_ms(theirs)
    return [name, flops / own / 1e9, flops / other / 1e9, other / own, difference]


def product_row(stream, name, size):
    options, operand, result = PRODUCTS[name]
    a, b = (torch.randn(size, size, device="cuda").to(operand) for _ in range(2))
    c, one = torch.zeros(size, size, device="cuda", dtype=result), torch.ones((), device="cuda")
    run = wgmma_matmul.make_matmul(**options).plan(*map(device_array, (a, b, c)))

    def theirs():
        if operand == torch.float8_e4m3fn:
            return torch._scaled_mm(a, b.t(), scale_a=one, scale_b=one, out_dtype=result, use_fast_accum=True)
        return torch.matmul(a, b.t())

    return row(f"{name}, {size}", 2 * size ** 3, lambda: run(stream), theirs, c)


def attention_row(stream, depth, heads, rows, causal):
    q, k, v = (torch.randn(1, heads, rows, depth, device="cuda", dtype=torch.float16) for _ in range(3))
    out = torch.zeros_like(q)
    attention = wgmma_attention.make_attention(depth, causal)
    arrays = [device_array(each[0]) for each in (q, k, v, out)]

    def theirs():
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)

    flops = 4 * heads * rows * rows * depth / (2 if causal else 1)
    name = f"attention, {heads} heads of {depth}, {rows} rows" + (", causal" if causal else "")
    return row(name, flops, lambda: attention(*arrays, stream), theirs, out)


def main():
    stream = cuda.external_stream(torch.cuda.current_stream().cuda_stream)
    rows = [product_row(stream, name, size) for name in PRODUCTS for size in (4096, 8192)]
    rows += [attention_row(stream, *shape, causal) for shape in ((128, 64, 4096), (64, 64, 4096), (128, 16, 16384))
             for causal in (False, True)]
    print_table(f"{torch.cuda.get_device_name()}, TFLOP/s", ["", "cujit", "torch", "ratio", "largest difference"], rows)


if __name__ == "__main__":
    main()
