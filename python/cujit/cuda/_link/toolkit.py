"""Where NVRTC, nvJitLink and libNVVM may lie: the CUDA toolkit's folders and those of NVIDIA's packages on PyPI.
Nothing is imported for that, and the extension opens a library when it is needed."""
from __future__ import annotations

import functools
import os
import sys

from cujit import _core

_NVVM = os.path.join("nvvm", "lib64")
_LIBRARIES_OF_PACKAGES = "lib", os.path.join("bin", "x86_64"), _NVVM
_LIBRARIES_OF_TOOLKITS = "lib64", "lib", _NVVM


def _roots() -> list[str]:
    """Folders of toolkits, the chosen ones first."""
    chosen = [os.environ.get(name, "") for name in ("CUDA_HOME", "CUDA_PATH", "CONDA_PREFIX")]
    return [root for root in (*chosen, "/usr/local/cuda") if root]


def _packages() -> list[str]:
    """Folders such as site-packages/nvidia/cuda_nvrtc and site-packages/nvidia/cu13."""
    found = []
    for entry in sys.path:
        shared = os.path.join(entry, "nvidia")
        if os.path.isdir(shared):
            found += [os.path.join(shared, name) for name in sorted(os.listdir(shared))]
    return found


@functools.cache
def find() -> None:
    """Tells the extension of these folders, once."""
    packages, roots = _packages(), _roots()
    libraries = [os.path.join(folder, name) for folder in packages for name in _LIBRARIES_OF_PACKAGES]
    libraries += [os.path.join(root, name) for root in roots for name in _LIBRARIES_OF_TOOLKITS]
    includes = [os.path.join(folder, "include") for folder in (*roots, *packages)]
    found = _with(includes, "cuda_runtime.h", "cuda_fp16.h")
    core_libraries = [each for each in (os.path.join(folder, "cccl") for folder in found) if os.path.isdir(each)]
    _core.toolkit_search(tuple(_with(libraries, "libnvrtc", "libnvJitLink", "libnvvm")), tuple(found + core_libraries))


def _with(folders: list[str], *beginnings: str) -> list[str]:
    """Those of the folders that have a file whose name begins so."""
    return [folder for folder in folders
            if os.path.isdir(folder) and any(name.startswith(beginnings) for name in os.listdir(folder))]
