"""Check a wheel: its size, what it carries, and what its extension needs and exports."""

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

LIMIT_MB = 20
RUNTIME_LIBRARIES = {"ld-linux-x86-64", "ld-linux-aarch64", "libc", "libm", "libdl", "libpthread", "libstdc++",
                     "libgcc_s"}
WANTED = ["cujit/__init__.py", "cujit/_core.pyi", "cujit/py.typed"]
WANTED_LICENCES = ["LICENSE", "NOTICE", "LLVM.txt", "libdevice.txt", "zlib.txt", "zstd.txt"]


def extension_problems(path):
    """What is wrong with the built extension at this path."""
    dynamic = output("readelf", "-d", path).splitlines()
    needed = {line.split("[")[1].split(".so")[0] for line in dynamic if "(NEEDED)" in line}
    foreign = needed - RUNTIME_LIBRARIES
    exported = {line.split()[-1] for line in output("nm", "-D", "--defined-only", path).splitlines()}
    if foreign:
        yield f"needs {sorted(foreign)}"
    if exported != {"PyInit__core"}:
        yield f"exports {sorted(exported)}"


def wheel_problems(path):
    size = path.stat().st_size / 1e6
    print(f"{path.name}: {size:.1f} MB")
    if size > LIMIT_MB:
        yield f"is larger than {LIMIT_MB} MB"
    with zipfile.ZipFile(path) as wheel, tempfile.TemporaryDirectory() as folder:
        names = wheel.namelist()
        yield from (f"lacks {name}" for name in WANTED if name not in names)
        yield from (f"lacks {name}" for name in WANTED_LICENCES if not any(n.endswith("/" + name) for n in names))
        extensions = [name for name in names if name.endswith(".so")]
        if len(extensions) != 1:
            yield f"holds extensions {extensions}"
        for name in extensions:
            yield from (f"{name} {problem}" for problem in extension_problems(wheel.extract(name, folder)))


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    problems = [problem for name in sys.argv[1:] for problem in wheel_problems(Path(name))]
    for problem in problems:
        print("the wheel", problem, file=sys.stderr)
    sys.exit(bool(problems))
