"""Make a folder that links against an older glibc: stubs of its libraries, with its symbols' versions, by ziglang.

Usage: old_glibc.py VERSION FOLDER MACHINE, such as old_glibc.py 2.28 build/glibc x86_64. The package ziglang must be
installed."""
import os
import shutil
import subprocess
import sys
from pathlib import Path

LIBRARIES = ("c", "m", "pthread", "dl", "ld")   # ld: the dynamic linker's own symbols


def make(version, folder, machine):
    shutil.rmtree(folder, ignore_errors=True)
    scratch = folder / "zig"
    scratch.mkdir(parents=True)
    empty = scratch / "empty.c"
    empty.write_text("")
    command = [sys.executable, "-m", "ziglang", "cc", "-target", f"{machine}-linux-gnu.{version}", "-shared",
               "-o", scratch / "empty.so", empty, "-lm", "-lpthread", "-ldl"]
    subprocess.run(command, check=True, env={**os.environ, "ZIG_GLOBAL_CACHE_DIR": str(scratch),
                                             "ZIG_LOCAL_CACHE_DIR": str(scratch / "local")})
    for name in LIBRARIES:
        shutil.copy(only(scratch, f"lib{name}.so.[0-9]"), folder / f"lib{name}.so")
    shutil.copy(only(scratch, "libc_nonshared.a"), folder)
    shutil.rmtree(scratch)


def only(folder, pattern):
    found = list(folder.glob(f"o/*/{pattern}"))
    if len(found) != 1:
        sys.exit(f"old_glibc.py: ziglang made {len(found)} of {pattern}")
    return found[0]


if __name__ == "__main__":
    make(sys.argv[1], Path(sys.argv[2]), sys.argv[3])
