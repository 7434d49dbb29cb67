"""Measures the largest error of each function of math and cuda.libdevice on the device that is there, in units of the
last place (ULP), and writes docs/accuracy.md.

    measure_accuracy.py                         measures, updates docs/accuracy.json and the page
    measure_accuracy.py --reference FILE.npz    keeps the exact values in the file, or takes them from it: only making
                                                it needs mpmath, so that it can be made elsewhere
    measure_accuracy.py --json OUT.json         writes what was measured there and nothing else
    measure_accuracy.py --merge OUT.json        takes such a file into docs/accuracy.json and the page
"""
import argparse
import json
import math
import time
from pathlib import Path

import numpy as np

DOCS = Path(__file__).resolve().parent.parent / "docs"
DTYPES = {"float16": np.float16, "float32": np.float32, "float64": np.float64}
UNIFORM, PAIRS, FEW = 3000, 3000, 300


class Function:
    """One function: its exact value by mpmath, where its arguments lie, and its names."""

    def __init__(self, exact, low=-math.inf, high=math.inf, math_name=None, device_name=None, slow=False, digits=0,
                 arguments=None, only_single=False):
        self.exact, self.low, self.high, self.slow, self.digits = exact, low, high, slow, digits
        self.math_name, self.device_name, self.arguments = math_name, device_name, arguments
        self.only_single = only_single


def both(name, exact, *domain, device_name=None, **options):
    return Function(exact, *domain, math_name=name, device_name=device_name or name, **options)


def device(name, exact, *domain, **options):
    return Function(exact, *domain, device_name=name, **options)


def table():
    """Exact functions are taken by name from mpmath, so that the table can be read without it."""
    def of(name):
        return lambda mp, x: getattr(mp, name)(x)

    rows = {
        "acos": both("acos", of("acos"), -1, 1), "acosh": both("acosh", of("acosh"), 1),
        "asin": both("asin", of("asin"), -1, 1), "asinh": both("asinh", of("asinh")),
        "atan": both("atan", of("atan")), "atanh": both("atanh", of("atanh"), -0.9999999999999999, 0.9999999999999999),
        "cbrt": both("cbrt", lambda mp, x: mp.sign(x) * mp.cbrt(abs(x))), "cos": both("cos", of("cos")),
        "cosh": both("cosh", of("cosh"), -720, 720), "erf": both("erf", of("erf")),
        "erfc": both("erfc", of("erfc"), -10, 30), "exp": both("exp", of("exp"), -800, 720),
        "exp2": both("exp2", lambda mp, x: mp.power(2, x), -1100, 1030),
        "expm1": both("expm1", of("expm1"), -800, 720),
        "gamma": both("gamma", of("gamma"), -180, 172, device_name="tgamma"),
        "lgamma": both("lgamma", lambda mp, x: mp.log(abs(mp.gamma(x))) if x < 0 else mp.loggamma(x), -1000, 1e300),
        "log": both("log", of("log"), 0), "log10": both("log10", of("log10"), 0),
        "log1p": both("log1p", of("log1p"), -0.9999999999999999), "log2": both("log2", lambda mp, x: mp.log(x, 2), 0),
        "sin": both("sin", of("sin")), "sinh": both("sinh", of("sinh"), -720, 720), "sqrt": both("sqrt", of("sqrt"), 0),
        "tan": both("tan", of("tan")), "tanh": both("tanh", of("tanh")),
        "atan2": both("atan2", lambda mp, y, x: mp.atan2(y, x), arguments=any_pair),
        "hypot": both("hypot", lambda mp, x, y: mp.hypot(x, y), arguments=near_pair),
        "pow": both("pow", lambda mp, x, y: mp.power(x, y), arguments=power_pair),
        "fmod": both("fmod", lambda mp, x, y: mp.sign(x) * mp.fmod(abs(x), abs(y)), arguments=near_pair, digits=700),
        "remainder": both("remainder", lambda mp, x, y: x - y * mp.nint(x / y), arguments=near_pair, digits=700),
        "cospi": device("cospi", of("cospi")), "sinpi": device("sinpi", of("sinpi")),
        "cyl_bessel_i0": device("cyl_bessel_i0", lambda mp, x: mp.besseli(0, x), -700, 700, slow=True),
        "cyl_bessel_i1": device("cyl_bessel_i1", lambda mp, x: mp.besseli(1, x), -700, 700, slow=True),
        "erfcx": device("erfcx", lambda mp, x: mp.exp(x * x) * mp.erfc(x), -26, 1e6, digits=40),
        "erfinv": device("erfinv", of("erfinv"), -0.9999999, 0.9999999, slow=True),
        "erfcinv": device("erfcinv", lambda mp, x: mp.erfinv(1 - x), 1e-30, 1.9999, slow=True, digits=60),
        "exp10": device("exp10", lambda mp, x: mp.power(10, x), -330, 309),
        "j0": device("j0", lambda mp, x: mp.besselj(0, x), -8, 8),
        "j1": device("j1", lambda mp, x: mp.besselj(1, x), -8, 8),
        "normcdf": device("normcdf", of("ncdf"), -38, 10),
        "normcdfinv": device("normcdfinv", lambda mp, x: -mp.sqrt(2) * mp.erfinv(1 - 2 * x), 1e-30, 0.9999, slow=True,
                             digits=60),
        "rcbrt": device("rcbrt", lambda mp, x: mp.sign(x) / mp.cbrt(abs(x))),
        "rhypot": device("rhypot", lambda mp, x, y: 1 / mp.hypot(x, y), arguments=near_pair),
        "rsqrt": device("rsqrt", lambda mp, x: 1 / mp.sqrt(x), 0),
        "y0": device("y0", lambda mp, x: mp.bessely(0, x), 1e-30, 8, slow=True),
        "y1": device("y1", lambda mp, x: mp.bessely(1, x), 1e-30, 8, slow=True),
    }
    fast = {"cos": (-math.pi, math.pi), "sin": (-math.pi, math.pi), "tan": (-1.5, 1.5), "exp": (-80, 80),
            "exp10": (-35, 35), "log": (0, math.inf), "log2": (0, math.inf), "log10": (0, math.inf)}
    for name, domain in fast.items():
        rows[f"fast_{name}"] = device(f"fast_{name}", rows[name].exact, *domain, only_single=True)
    rows["fast_fdivide"] = device("fast_fdivide", lambda mp, x, y: x / y, arguments=small_pair, only_single=True)
    rows["fast_pow"] = device("fast_pow", rows["pow"].exact, arguments=power_pair, only_single=True)
    return rows


# --- arguments --------------------------------------------------------------------------------------------------------


def exponents(dtype):
    info = np.finfo(dtype)
    return np.arange(info.minexp - info.nmant, info.maxexp)


def scaled(rng, powers, dtype):
    """A number with a random fraction for each power of two."""
    with np.errstate(all="ignore"):
        return np.ldexp(rng.uniform(1, 2, powers.size), powers).astype(dtype)


def one_column(rng, function, dtype):
    powers = np.repeat(exponents(dtype), max(1, 2048 // exponents(dtype).size))
    uniform = rng.uniform(max(function.low, -10), min(function.high, 10), UNIFORM).astype(dtype)
    wide = rng.uniform(max(function.low, -1e3), min(function.high, 1e3), UNIFORM).astype(dtype)
    near_one = rng.uniform(0.5, 2, UNIFORM).astype(dtype)
    x = np.concatenate([scaled(rng, powers, dtype), -scaled(rng, powers, dtype), uniform, wide, near_one])
    wide = x.astype(np.float64)
    inside = np.isfinite(wide) & (wide >= function.low) & (wide <= function.high) & (wide != 0)
    x = np.unique(x[inside])
    return [x[:: max(1, x.size // FEW)] if function.slow else x]


def any_pair(rng, dtype):
    powers = exponents(dtype)
    x, y = (scaled(rng, rng.choice(powers, PAIRS), dtype) * rng.choice([-1, 1], PAIRS).astype(dtype) for _ in range(2))
    return [x, y]


def near_pair(rng, dtype):
    """Powers of two that are at most 30 apart."""
    powers = exponents(dtype)
    first = rng.choice(powers, PAIRS)
    second = np.clip(first + rng.integers(-30, 31, PAIRS), powers[0], powers[-1])
    return [scaled(rng, p, dtype) * rng.choice([-1, 1], PAIRS).astype(dtype) for p in (first, second)]


def small_pair(rng, dtype):
    return [scaled(rng, rng.integers(-60, 60, PAIRS), dtype) for _ in range(2)]


def power_pair(rng, dtype):
    """Powers of all sizes, a third of bases near 1."""
    x = scaled(rng, rng.choice(exponents(dtype), PAIRS), dtype)
    x[::3] = rng.uniform(0.9, 1.1, x[::3].size)
    x = np.where((x > 0) & (x != 1), x, dtype(2))
    info = np.finfo(dtype)
    with np.errstate(all="ignore"):
        y = (rng.uniform(info.minexp - info.nmant, info.maxexp, PAIRS) / np.log2(x.astype(np.float64))).astype(dtype)
    return [x, np.where(np.isfinite(y), y, dtype(1))]


# --- exact values -----------------------------------------------------------------------------------------------------


def nearest_and_rest(mp, value):
    """The nearest float64 to an exact number, and what is missing in units of its last place."""
    if isinstance(value, mp.mpc) or not mp.isfinite(value):
        return math.nan, 0.0
    try:
        nearest = float(value)
    except OverflowError:
        nearest = math.copysign(math.inf, value)
    if math.isinf(nearest):
        return nearest, 0.0
    return nearest, float((value - mp.mpf(nearest)) / mp.mpf(math.ulp(nearest)))


def exact_value(mp, function, row):
    try:
        return nearest_and_rest(mp, function.exact(mp, *(mp.mpf(float(x)) for x in row)))
    except (ValueError, ZeroDivisionError, OverflowError):   # a pole
        return math.nan, 0.0


def exact_values(mp, function, columns):
    with mp.workprec(128 + math.ceil(3.33 * function.digits)):
        return np.array([exact_value(mp, function, row) for row in zip(*columns, strict=True)]).T


def make_reference(functions):
    import mpmath

    rng, arrays = np.random.default_rng(1), {}
    for name, function in functions.items():
        for dtype_name, dtype in DTYPES.items():
            if (function.only_single and dtype_name != "float32") or (
                    dtype_name == "float16" and not function.math_name):
                continue
            columns = function.arguments(rng, dtype) if function.arguments else one_column(rng, function, dtype)
            arrays[f"{name}/{dtype_name}"] = np.vstack(
                [*(c.astype(np.float64) for c in columns), *exact_values(mpmath, function, columns)])
    return arrays


def load_reference(path, functions):
    if path and path.exists():
        with np.load(path) as kept:
            return dict(kept)
    arrays = make_reference(functions)
    if path:
        np.savez_compressed(path, **arrays)
    return arrays


# --- measuring --------------------------------------------------------------------------------------------------------


def run(cuda, call, columns, dtype):
    letters = "xy"[:len(columns)]
    scope = {"cuda": cuda, "math": math}
    exec(f"def kernel({', '.join(letters)}, out):\n    i = cuda.grid(1)\n    if i < out.size:\n"
         f"        out[i] = {call}({', '.join(f'{a}[i]' for a in letters)})", scope)
    out = np.zeros(columns[0].size, dtype)
    cuda.jit(scope["kernel"])[(out.size + 255) // 256, 256](*columns, out)
    return out


def largest_error(got, exact, rest, dtype):
    """In units of the last place of the exact result in the type; where it overflows the type, infinity is exact."""
    with np.errstate(all="ignore"):
        rounded = exact.astype(dtype)
        unit = np.spacing(np.abs(rounded)).astype(np.float64)
        error = np.abs((got.astype(np.float64) - exact) / unit - rest * (np.spacing(np.abs(exact)) / unit))
    overflows, missing = np.isinf(rounded), np.isnan(exact)
    largest = np.abs(got) == np.finfo(dtype).max
    error = np.where(overflows, np.where((got == rounded) | largest, 0, math.inf), error)
    error = np.where(missing, 0, np.where(np.isnan(error), math.inf, error))
    return float(error.max())


def measure(reference, functions):
    from cujit import cuda

    results = {"math": {}, "libdevice": {}}
    for key, array in reference.items():
        name, dtype_name = key.split("/")
        function, dtype = functions[name], DTYPES[dtype_name]
        columns, (exact, rest) = [c.astype(dtype) for c in array[:-2]], array[-2:]
        if function.math_name:
            got = run(cuda, f"math.{function.math_name}", columns, dtype)
            results["math"].setdefault(name, {})[dtype_name] = largest_error(got, exact, rest, dtype)
        if dtype_name != "float16":
            suffix = "f" if dtype_name == "float32" else ""
            got = run(cuda, f"cuda.libdevice.{function.device_name}{suffix}", columns, dtype)
            row = results["libdevice"].setdefault(function.device_name, {})
            row[dtype_name] = largest_error(got, exact, rest, dtype)
    return results


def device_name():
    from cujit import cuda

    if cuda.get_current_device().kind == "cpu":
        return "CPU device"
    name = cuda.get_current_device().name
    return name.decode() if isinstance(name, bytes) else str(name)


# --- the page ---------------------------------------------------------------------------------------------------------

HEAD = """# Accuracy of functions

The largest error found, in units of the last place of the result (ULP): 0.5 is correctly rounded. Arguments: every
power of two of the type, denormal ones included, with random fractions and both signs, and uniform ones from -10 to
10, -1000 to 1000 and 0.5 to 2, as far as the function and its result reach; for functions of two numbers random pairs
of all sizes. Exact results are mpmath's. Made by `scripts/measure_accuracy.py`, which measures the device it runs on;
inf: a result that should be finite is not, or the other way round.

`fmod` and `remainder` are exact, `sqrt` is correctly rounded. `lgamma` of negative numbers has zeros between the
poles, beside which a libdevice result has fewer correct digits. The CPU device has elementary functions of its own
(`codegen/host/elementary`) for processors with AVX2; other functions are the C library's, `cuda.libdevice` is NVIDIA's
code. NumPy's functions have the errors of `math`'s.
"""


def cell(value):
    return "" if value is None else "inf" if math.isinf(value) else f"{value:.2f}"


def section(title, part, dtypes, devices):
    heads = [f"{d}, {t}" for d in devices for t in dtypes]
    names = sorted({name for results in devices.values() for name in results[part]})
    lines = ["", f"## {title}", "", "| function | " + " | ".join(heads) + " |", "|---" * (len(heads) + 1) + "|"]
    for name in names:
        cells = [cell(results[part].get(name, {}).get(t)) for results in devices.values() for t in dtypes]
        lines.append(f"| `{name}` | " + " | ".join(cells) + " |")
    return lines


def page_of(devices):
    lines = section("`math`", "math", DTYPES, devices)
    lines += section("`cuda.libdevice`, float32 with an f behind the name", "libdevice", list(DTYPES)[1:], devices)
    return HEAD + "\n".join(lines) + "\n"


def merge(measured):
    path = DOCS / "accuracy.json"
    devices = json.loads(path.read_text()) if path.exists() else {}
    devices.update(measured)
    path.write_text(json.dumps(devices, indent=1, sort_keys=True) + "\n")
    (DOCS / "accuracy.md").write_text(page_of(devices))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reference", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--merge", type=Path)
    options = parser.parse_args()
    if options.merge:
        merge(json.loads(options.merge.read_text()))
        return
    functions, started = table(), time.perf_counter()
    reference = load_reference(options.reference, functions)
    values = time.perf_counter()
    measured = {device_name(): measure(reference, functions)}
    print(f"exact values {values - started:.0f} s, measuring {time.perf_counter() - values:.0f} s")
    if options.json:
        options.json.write_text(json.dumps(measured, indent=1, sort_keys=True))
    else:
        merge(measured)


if __name__ == "__main__":
    main()
