"""What editors and type checkers see: correct kernels have no error, a misspelt name has one, and stubs are true."""
import ast
import importlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

import cujit
import cujit.types
from cujit import _core

ROOT = Path(__file__).resolve().parents[3]
PACKAGE = Path(cujit.__file__).parent
SAMPLE = Path(__file__).with_name("typed_kernels.py")

sys.path.insert(0, str(ROOT / "scripts"))
import intrinsics_stub  # noqa: E402

# Each line has an error: a name that is misspelt, or an argument that does not fit.
WRONG = """\
import numpy as np
from cujit import cuda, float32, types, void
import cujit
def kernel(x: np.ndarray[tuple[int], np.dtype[np.float32]]) -> None:
    cuda.gird(1)
    cuda.threadIdx.w
    cuda.syncthread()
    cuda.syncthreads(1)
    cuda.shared.arary(32, float32)
    cuda.atomic.ad(x, 0, 1)
    cuda.atomic.add(x, 0, 1, scope="blocks")
    cuda.atomic.add(x, 0)
    cuda.grid("x")
    cuda.cg.this_grids()
    cuda.cg.this_thread_block().synch()
    cuda.cg.this_thread_block().thread_rank().x
    cuda.libdevice.sinff(1.0)
    cuda.libdevice.sinf("1")
    cuda.fp16.haddd(1.0, 2.0)
    cuda.fp16.__hadd_rn(1.0)
    cuda.bf16.hadd(1.0)
    cuda.float5(1.0)
    cuda.laneid.x
types.float33
void[:]("x")
float32(float32).arguments
cujit.vectorise
cuda.to_devise(1)
cuda.to_device([1], strem=0)
cuda.jit(devise=True)
cuda.jit(kernel).inspect_assembly()
cuda.jit(kernel)(1, 2)
cuda.jit(kernel)[1, 1].streams
cuda.device_array(3).copy_to_hosts()
cuda.stream().synchronise()
cuda.get_current_device().MULTIPROCESOR_COUNT
cuda.args.InOuts
cujit.vectorize(fastmaths=True)
cujit.config.CUDA_LOW_OCCUPANCY_WARNING
cujit.errors.TypeingError
"""
FIRST_WRONG = 5   # the line
MODULES_OF_CUDA = {"bf16", "fp16", "libdevice"}   # modules of their own, which cuda has, too


class Environment(NamedTuple):
    """Where type checkers run, and the variables with which they find the package."""

    folder: Path
    variables: dict


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    pytest.importorskip("mypy")
    folder = tmp_path_factory.mktemp("checked")
    place = str(PACKAGE.parent)
    is_installed = PACKAGE.parent.name == "site-packages"
    paths = {} if is_installed else {"MYPYPATH": place, "PYTHONPATH": place}
    settings = {"typeCheckingMode": "strict", "extraPaths": [] if is_installed else [place]}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    return Environment(folder, os.environ | paths)


@pytest.fixture(scope="module")
def checked(environment):
    """checked(file): {(checker, line)} of the errors that mypy --strict and pyright find in it."""

    def run(name, command, path):
        done = subprocess.run([*command, path], cwd=environment.folder, env=environment.variables, capture_output=True,
                              text=True)
        found = re.findall(rf"{re.escape(str(path))}:(\d+):?.* error\b(.*)", done.stdout)
        assert bool(found) == bool(done.returncode), done.stdout + done.stderr
        return {(name, int(line)): text for line, text in found}

    def check(path):
        python = [sys.executable, "-m"]
        return {**run("mypy", [*python, "mypy", "--strict", "--follow-imports=silent"], path),
                **run("pyright", [*python, "basedpyright", "-p", environment.folder, "--pythonpath", sys.executable],
                      path)}

    return check


def test_correct_kernels_have_no_error(checked):
    assert SAMPLE.read_text().count("\n") >= 75
    assert checked(SAMPLE) == {}


def test_correct_kernels_run(run_python):
    assert "True" in run_python(SAMPLE.read_text())


def test_what_is_wrong_has_an_error(checked, tmp_path):
    path = tmp_path / "wrong.py"
    path.write_text(WRONG)
    found = checked(path)
    expected = range(FIRST_WRONG, WRONG.count("\n") + 1)
    assert sorted(found) == sorted([(name, line) for name in ("mypy", "pyright") for line in expected]), found


def test_annotations_of_the_package_are_consistent(environment):
    command = [sys.executable, "-m", "mypy", "-p", "cujit", "--config-file", ROOT / "pyproject.toml"]
    done = subprocess.run(command, cwd=environment.folder, env=environment.variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_stub_of_the_extension_is_true(environment):
    """Its disjoint bases are not declared: no program inherits from two of them."""
    command = [sys.executable, "-m", "mypy.stubtest", "cujit._core", "--ignore-disjoint-bases", "--mypy-config-file",
               ROOT / "pyproject.toml"]
    done = subprocess.run(command, cwd=environment.folder, env=environment.variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_stubs_of_intrinsics_name_what_is_there():
    for name in ("_intrinsics", *MODULES_OF_CUDA):
        module = importlib.import_module(f"cujit.cuda.{name}")
        names = {name for name in module.__all__ if name[0] != "_"}
        stub = ast.parse(Path(module.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
        defined = {node.name if isinstance(node, (ast.FunctionDef, ast.ClassDef)) else node.target.id
                   for node in stub.body if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.AnnAssign))}
        assert {name for name in defined if name[0] != "_"} == names - MODULES_OF_CUDA


def test_stubs_of_intrinsics_are_what_the_tables_say():
    assert intrinsics_stub.unused_entries() == []
    for path, text in intrinsics_stub.stubs().items():
        assert path.read_text(encoding="utf-8") == text, "run scripts/intrinsics_stub.py --write"


def test_each_intrinsic_has_a_docstring_in_the_stub():
    stub = ast.parse((PACKAGE / "cuda" / "_intrinsics.pyi").read_text(encoding="utf-8"))
    functions = [node for node in ast.walk(stub) if isinstance(node, ast.FunctionDef)]
    assert len(functions) > 100 and all(map(ast.get_docstring, functions))


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.pyi")), ids=lambda path: path.name)
def test_no_stub_has_names_for_the_asking(path):
    defined = [node.name for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
               if isinstance(node, ast.FunctionDef)]
    assert "__getattr__" not in defined


def test_names_of_types_are_complete():
    named = {name for name, value in vars(cujit.types).items() if isinstance(value, _core.Type) and name[0] != "_"}
    assert set(cujit.types.__all__) == named | {"from_dtype", "typeof"}
