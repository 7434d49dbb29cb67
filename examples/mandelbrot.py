"""The Mandelbrot set: a device function with a loop and complex numbers, a two-dimensional grid, a picture.

python mandelbrot.py [FILE.png]
"""
import struct
import sys
import zlib

import numpy as np

from cujit import cuda

LIMIT = 255


@cuda.jit(device=True)
def escape_time(c):
    z = 0j
    for n in range(LIMIT):
        if z.real * z.real + z.imag * z.imag > 4.0:
            return n
        z = z * z + c
    return LIMIT


@cuda.jit
def mandelbrot(image, left, top, step):
    x, y = cuda.grid(2)
    if x < image.shape[1] and y < image.shape[0]:
        image[y, x] = escape_time(complex(left + x * step, top + y * step))


def reference(width, height, left, top, step):
    c = (left + np.arange(width) * step) + 1j * (top + np.arange(height) * step)[:, None]
    z, count = np.zeros_like(c), np.full(c.shape, LIMIT)
    for n in range(LIMIT):
        escaped = z.real * z.real + z.imag * z.imag > 4
        count[escaped & (count == LIMIT)] = n
        z = np.where(escaped, 3, z * z + c)
    return count


def write_png(path, gray):
    """A grayscale image (uint8, two axes) as a PNG file."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    height, width = gray.shape
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = np.hstack([np.zeros((height, 1), np.uint8), gray]).tobytes()
    chunks = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunks)


def main(width=240, height=160, path=None):
    left, top, step = -2.0, -1.0, 3.0 / width
    image = cuda.to_device(np.zeros((height, width), np.uint8))
    block = (16, 16)
    grid = (-(-width // block[0]), -(-height // block[1]))
    mandelbrot[grid, block](image, left, top, step)

    picture = image.copy_to_host()
    expected = reference(width, height, left, top, step)
    assert np.mean(picture != expected) < 0.005  # fused multiply-add tips points at the border of the set
    if path:
        write_png(path, picture)
    return f"{width} x {height} points" + (f", {path}" if path else "")


if __name__ == "__main__":
    print(main(1440, 960, sys.argv[1] if len(sys.argv) > 1 else "mandelbrot.png"))
