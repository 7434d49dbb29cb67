"""`python -m cujit` alone: what a report of a fault should say of the machine and of what is installed."""
from __future__ import annotations

import os
import platform
import sys
import warnings
from collections.abc import Iterator
from importlib import metadata
from typing import TYPE_CHECKING

from cujit import _core
from cujit._command import cache
from cujit._command.variables import VARIABLES

if TYPE_CHECKING:
    from cujit.cuda.devices import Device

_Row = tuple[str, object]
_LIBRARIES = "NumPy", "numba", "numba-cuda", "cupy-cuda12x", "cupy-cuda13x", "torch", "jax"


def _versions() -> Iterator[_Row]:
    from cujit import __version__

    yield "cujit", __version__
    yield "installed in", os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    yield "Python", f"{platform.python_implementation()} {sys.version.split()[0]}, {sys.executable}"
    yield "system", f"{platform.platform()}, {platform.machine()}"
    yield "LLVM", _core.llvm_version()
    _, processor, features = _core.host_cpu().split(" ", 2)
    yield "processor", processor
    yield "  features", " ".join(sorted(each[1:] for each in features.split(",") if each.startswith("+")))
    for name in _LIBRARIES:
        try:
            yield name, metadata.version(name)
        except metadata.PackageNotFoundError:
            continue


def _device(device: Device) -> Iterator[_Row]:
    yield f"{device.id}", device.name
    yield "  compute capability", "{}.{}".format(*device.compute_capability)
    yield "  multiprocessors", device.MULTIPROCESSOR_COUNT
    free, total = device.get_primary_context().get_memory_info()
    yield "  memory", f"{cache.size_text(free)} of {cache.size_text(total)} free"


def _devices() -> Iterator[_Row]:
    from cujit import cuda

    yield "in use", f"{cuda.get_current_device().kind}, by CUJIT_DEVICE={os.environ.get('CUJIT_DEVICE', 'auto')}"
    missing = _core.gpu_missing_reason()
    if missing:
        yield "no GPU", missing
    else:
        version = _core.driver_version()
        yield "driver", f"CUDA {version // 1000}.{version % 1000 // 10}"
    for device in cuda.gpus:
        yield from _device(device)


def _disk_cache() -> Iterator[_Row]:
    folder = _core.cache_folder()
    yield "folder", folder or "none: CUJIT_CACHE=0, or there is no home folder"
    if folder:
        kept = cache.kernels()
        yield "kernels", f"{len(kept)}, {cache.size_text(sum(kernel.size for kernel in kept))}"


def _variables() -> Iterator[_Row]:
    for variable in VARIABLES:
        for name in filter(None, (variable.name, variable.numbas)):
            if name in os.environ:
                yield name, os.environ[name]


_PARTS = {"Versions": _versions, "Devices": _devices, "Disk cache": _disk_cache, "Variables that are set": _variables}


def print_report() -> None:
    """Prints it. A part that fails says so, and the others follow."""
    for title, part in _PARTS.items():
        print(title)
        rows: list[_Row] = []
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                rows += part()
        except Exception as error:
            rows.append(("error", f"{type(error).__name__}: {error}"))
        for name, value in rows or [("none", "")]:
            print(f"  {name:24}{value}".rstrip())
        print()
