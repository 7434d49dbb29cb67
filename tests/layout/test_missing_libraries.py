"""What a build from a checkout or an sdist says where a library is missing: one line, with what to install."""
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not all(map(shutil.which, ("cmake", "ninja", "cc", "c++"))), reason="no build tools")
ROOT = Path(__file__).parents[2]
QUICK = ["-DCMAKE_C_COMPILER_WORKS=1", "-DCMAKE_CXX_COMPILER_WORKS=1", "-DCUJIT_EXTENSION=OFF"]
NOTHING_FOUND = ["-DCMAKE_FIND_ROOT_PATH=/nowhere", "-DCMAKE_FIND_ROOT_PATH_MODE_PROGRAM=ONLY",
                 "-DCMAKE_FIND_ROOT_PATH_MODE_LIBRARY=ONLY"]


def configure(tmp_path, *arguments, compilers=("c", "cxx"), **environment):
    found = {"c": f"-DCMAKE_C_COMPILER={shutil.which('cc')}", "cxx": f"-DCMAKE_CXX_COMPILER={shutil.which('c++')}"}
    done = subprocess.run(
        [shutil.which("cmake"), "-S", ROOT, "-B", tmp_path / "build", "-G", "Ninja",
         f"-DPython_EXECUTABLE={sys.executable}", f"-DCMAKE_MAKE_PROGRAM={shutil.which('ninja')}",
         *(found[each] for each in compilers), *QUICK, *arguments], capture_output=True, text=True,
        env={**os.environ, **environment})
    assert done.returncode
    return [line.strip() for line in done.stderr.splitlines() if "cujit is built with" in line]


def llvm_config(tmp_path, *cases):
    program = tmp_path / "llvm-config"
    lines = [f'case "$*" in {pattern}) {command} ;; esac' for pattern, command in cases]
    program.write_text("\n".join(["#!/bin/sh", *lines, "exit 1", ""]))
    program.chmod(0o755)
    return program


@pytest.mark.parametrize("there, lacking", [((), "C"), (("c",), "CXX")])
def test_no_compiler(tmp_path, there, lacking):
    lines = configure(tmp_path, compilers=there, PATH=str(tmp_path), CC="", CXX="")
    assert lines == [f"cujit is built with compilers of C and C++, and there is none of {lacking} (on Debian: apt-get "
                     "install gcc g++, or set CC and CXX)"]


def test_no_llvm(tmp_path):
    assert configure(tmp_path, *NOTHING_FOUND) == [
        "cujit is built with the static libraries of LLVM 22, and there is no llvm-config (on Debian: apt-get install "
        "llvm-22-dev, or set CUJIT_LLVM_CONFIG)"]


def test_another_llvm(tmp_path):
    program = llvm_config(tmp_path, ("--version", "echo 21.1.4; exit"))
    assert configure(tmp_path, f"-DCUJIT_LLVM_CONFIG={program}") == [
        f"cujit is built with LLVM 22, and {program} is of 21.1.4 (on Debian: apt-get install llvm-22-dev, or set "
        "CUJIT_LLVM_CONFIG)"]


def test_shared_llvm_alone(tmp_path):
    program = llvm_config(tmp_path, ("--version", "echo 22.1.0; exit"), ("--includedir", "echo /usr/include; exit"))
    assert configure(tmp_path, f"-DCUJIT_LLVM_CONFIG={program}") == [
        f"cujit is built with the static libraries of LLVM 22, which {program} does not find (on Debian: apt-get "
        "install llvm-22-dev)"]


def test_no_zstd(tmp_path):
    program = llvm_config(tmp_path, ("--version", "echo 22.1.0; exit"), ("*", "echo /usr/include; exit"))
    assert configure(tmp_path, f"-DCUJIT_LLVM_CONFIG={program}", *NOTHING_FOUND) == [
        "cujit is built with the static library libzstd.a, which is not there (on Debian: apt-get install libzstd-dev)"]
