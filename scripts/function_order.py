"""Record in which order LLVM's functions are called while kernels are compiled: cmake/function_order.txt.xz.

    scripts/function_order.py PACKAGE

PACKAGE is the folder above a built `cujit`, such as build/default/python. First launches of benchmarks/first_launch.py
are compiled under valgrind's callgrind, which names callers and, behind each, what it calls: a small kernel's, whose
functions all compilations call, then others, then the same to PTX. The linker lays functions out in this order. Names
that a build does not have are passed over, so the list is made anew only when LLVM's version changes, or ours much."""

import lzma
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ORDER = ROOT / "cmake" / "function_order.txt.xz"
PARTS = {"saxpy": "launch", "product": "launch", "sin": "launch", "": "to PTX"}  # words of names -> what is recorded
WORKLOAD = """
import sys, warnings
sys.path.insert(0, sys.argv[1])
warnings.simplefilter("ignore")
import first_launch
from cujit import cuda
first_launch.cuda = cuda
for name, (function, grid, block, arguments) in first_launch.cases().items():
    if sys.argv[2] not in name:
        continue
    kernel = cuda.jit(function)
    if sys.argv[3] == "launch":
        kernel[grid, block](*arguments)
        cuda.synchronize()
    else:
        kernel.inspect("asm", tuple(cuda.typeof(each) for each in arguments), 80)
"""


def copy_package(package, folder):
    """Without debug sections, as valgrind reads those of few compilers."""
    shutil.copytree(package / "cujit", folder / "cujit")
    for extension in (folder / "cujit").glob("_core*.so"):
        subprocess.run(["strip", "-g", extension], check=True)


def record(folder, word, what):
    workload, output = folder / "workload.py", folder / "callgrind.out"
    workload.write_text(WORKLOAD)
    subprocess.run(["valgrind", "-q", "--tool=callgrind", "--demangle=no", "--toggle-collect=generate",
                    f"--callgrind-out-file={output}", sys.executable, workload, ROOT / "benchmarks", word, what],
                   env={**os.environ, "PYTHONPATH": str(folder), "CUJIT_DEVICE": "cpu", "CUJIT_CACHE": "0"}, check=True)
    return output.read_text()


def names(text):
    """Of functions of any object, each where it is met first: "fn=(12) name" or "cfn=(12) name'2"."""
    return re.findall(r"^c?fn=\(\d+\) ([A-Za-z_][^\s']*)", text, re.MULTILINE)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        copy_package(Path(sys.argv[1]), Path(folder))
        found = dict.fromkeys(name for part in PARTS.items() for name in names(record(Path(folder), *part)))
    if not found:
        sys.exit("callgrind names no function: is the extension stripped?")
    ORDER.write_bytes(lzma.compress("".join(f"{name}\n" for name in found).encode(), preset=9 | lzma.PRESET_EXTREME))
    print(f"{ORDER.relative_to(ROOT)}: {len(found)} functions, {ORDER.stat().st_size} bytes")


if __name__ == "__main__":
    main()
