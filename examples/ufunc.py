"""A function of scalars applied to whole arrays: broadcasting, host arrays in and out, or device arrays in and out."""
import math

import numpy as np

from cujit import cuda, vectorize


@vectorize(["float64(float64, float64)", "float32(float32, float32)"], target="cuda")
def damped_wave(t, frequency):
    return math.exp(-t) * math.cos(frequency * t)


@vectorize
def clamp(x, low, high):
    return min(max(x, low), high)


def main(n=1000):
    t = np.linspace(0.0, 4.0, n)
    frequency = np.array([[1.0], [5.0], [25.0]])

    waves = damped_wave(t, frequency)  # (3, n): NumPy arrays in, a NumPy array out
    np.testing.assert_allclose(waves, np.exp(-t) * np.cos(frequency * t), rtol=1e-12, atol=1e-12)

    on_device = clamp(cuda.to_device(waves), -0.5, 0.5)  # stays on the device
    np.testing.assert_array_equal(on_device.copy_to_host(), np.clip(waves, -0.5, 0.5))
    return f"{waves.shape[0]} x {waves.shape[1]} elements"


if __name__ == "__main__":
    print(main())
