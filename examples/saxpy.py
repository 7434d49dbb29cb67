"""a * x + y: one thread for each element, arrays kept on the device."""
import numpy as np

from cujit import cuda


@cuda.jit
def saxpy(a, x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a * x[i] + y[i]


def main(n=1 << 20):
    rng = np.random.default_rng(1)
    x, y = rng.random((2, n), dtype=np.float32)
    a = np.float32(2.5)

    d_x, d_y = cuda.to_device(x), cuda.to_device(y)
    d_out = cuda.device_array_like(d_x)
    saxpy.forall(n)(a, d_x, d_y, d_out)

    np.testing.assert_allclose(d_out.copy_to_host(), a * x + y, rtol=1e-6)
    return f"{n} elements"


if __name__ == "__main__":
    print(main())
