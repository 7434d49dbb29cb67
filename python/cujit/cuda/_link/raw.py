"""Whole kernels from elsewhere: RawModule and RawKernel load PTX, machine code, CUDA C; cujit's launcher runs them."""
from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from cujit import _core
from cujit.cuda._link import toolkit
from cujit.cuda.devices import need_device
from cujit.errors import CudaAPIError, UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import DTypeLike

    from cujit.cuda.devicearray import DeviceNDArray

# CUfunction_attribute, of cuda.h, under CuPy's names.
_ATTRIBUTES = ("max_threads_per_block", "shared_size_bytes", "const_size_bytes", "local_size_bytes", "num_regs",
               "ptx_version", "binary_version", "cache_mode_ca", "max_dynamic_shared_size_bytes",
               "preferred_shared_memory_carveout")
_ELF, _FATBIN = b"\x7fELF", b"\x50\xed\x55\xba"


class RawModule:
    """Kernels and variables of PTX, machine code or CUDA C.

    Parameters
    ----------
    code : str or bytes, optional
        PTX, CUDA C, or the bytes of a cubin or fatbin.
    path : str, optional
        The file with that, instead.
    options : sequence of str
        NVRTC's, for CUDA C.
    name_expressions : sequence of str, optional
        C++ names, such as "scale<float>", under which get_function and get_global find what NVRTC made of templates.
    enable_cooperative_groups : bool
        Its kernels wait for other blocks: they are launched cooperatively.
    max_registers : int
        Of a thread, for PTX; 0: no limit.

    Raises
    ------
    UnsupportedError
        There is no GPU: the CPU device cannot run such code.
    LinkerError
        NVRTC cannot compile it, or is not installed.
    CudaAPIError
        The driver cannot load it; with the driver's log.

    Examples
    --------
    >>> source = 'extern "C" __global__ void one(float *x) { x[threadIdx.x] = 1; }'
    >>> module = cuda.RawModule(code=source)  # doctest: +SKIP
    >>> module.get_function("one")[1, 32](x)  # doctest: +SKIP
    """

    def __init__(self, code: str | bytes | None = None, path: str | os.PathLike[str] | None = None,
                 options: Iterable[str] = (), name_expressions: Sequence[str] | None = None, *, backend: str = "nvrtc",
                 enable_cooperative_groups: bool = False, max_registers: int = 0) -> None:
        if (code is None) == (path is None):
            raise TypeError("a RawModule is made of code, or of the file at a path")
        if backend != "nvrtc":
            raise ValueError(f"backend {backend!r}: NVRTC compiles CUDA C")
        self.name = "<RawModule>" if path is None else os.path.basename(os.fspath(path))
        self.enable_cooperative_groups = enable_cooperative_groups
        if path is not None:
            with open(path, "rb") as file:
                code = file.read()
        given = code.encode() if isinstance(code, str) else bytes(code or b"")
        binary, self._names = _compiled(given, self.name, tuple(options), tuple(name_expressions or ()))
        self._module = _core.RawModule(binary, self.name, max_registers)
        self._module.load()

    def get_function(self, name: str) -> RawKernel:
        """A kernel, by its symbol or by one of name_expressions.

        Parameters
        ----------
        name : str

        Returns
        -------
        RawKernel

        Raises
        ------
        CudaAPIError
            The module has no such kernel.
        """
        return RawKernel._of(self, self._names.get(name, name), name)

    def get_global(self, name: str, dtype: DTypeLike = "u1") -> DeviceNDArray:
        """A variable as a device array over its memory, of one axis.

        Parameters
        ----------
        name : str
        dtype : dtype
            Of its elements; bytes unless given.

        Returns
        -------
        DeviceNDArray

        Raises
        ------
        CudaAPIError
            The module has no such variable.
        ValueError
            Its size is no multiple of the dtype's.
        """
        import numpy as np

        from cujit.cuda.devicearray import from_cuda_array_interface

        symbol = self._names.get(name, name)
        pointer, size = _named(self, f"variable '{name}'", lambda: self._module.variable(symbol))
        element = np.dtype(dtype)
        if size % element.itemsize:
            raise ValueError(f"{name} has {size} bytes, which is no multiple of {element}")
        described = {"shape": (size // element.itemsize,), "typestr": element.str, "data": (pointer, False),
                     "version": 3}
        return from_cuda_array_interface(described, owner=self)

    def __repr__(self) -> str:
        return f"<RawModule {self.name}>"


class RawKernel(_core.KernelBase):
    """One kernel of PTX, machine code or CUDA C, launched like any, kernel[grid, block, stream, sharedmem](*args), or
    as CuPy has it, kernel(grid, block, args).

    Arrays are passed as pointers to their first elements, NumPy scalars by their dtypes, Python's int, float and bool
    as int64, float64 and bool. The driver (of CUDA 12.4 and later) tells the size of each parameter, and what does not
    fit is an error before the launch.

    Parameters
    ----------
    code : str or bytes
        PTX, CUDA C, or the bytes of a cubin or fatbin.
    name : str
        The kernel's symbol, or with CUDA C its C++ name: "scale<float>".
    options : sequence of str
        NVRTC's, for CUDA C.
    **more : object
        What RawModule takes beside.
    """

    name: str

    def __init__(self, code: str | bytes, name: str, options: Iterable[str] = (), **more: Any) -> None:
        if "<" in name and "name_expressions" not in more:
            more["name_expressions"] = (name,)
        module = RawModule(code, options=options, **more)
        self._join(module, module._names.get(name, name), name)

    @classmethod
    def _of(cls, module: RawModule, symbol: str, name: str) -> RawKernel:
        made = cls.__new__(cls)
        made._join(module, symbol, name)
        return made

    def _join(self, module: RawModule, symbol: str, name: str) -> None:
        def arguments(*arguments): ...

        arguments.__name__ = arguments.__qualname__ = name
        self.module, self.name, self._symbol = module, name, symbol
        _named(module, f"kernel '{name}'", lambda: module._module.attribute(symbol, 0))
        super().__init__(arguments, raw=(module._module, symbol, module.enable_cooperative_groups))

    @property
    def attributes(self) -> dict[str, int]:
        """The kernel's registers, memory and limits, as the driver has them: max_threads_per_block, shared_size_bytes,
        num_regs and so on."""
        return {name: self.module._module.attribute(self._symbol, number) for number, name in enumerate(_ATTRIBUTES)}

    def __getattr__(self, name: str) -> int:
        if name in _ATTRIBUTES:
            return self.module._module.attribute(self._symbol, _ATTRIBUTES.index(name))
        raise AttributeError(f"'RawKernel' object has no attribute '{name}'")

    def __repr__(self) -> str:
        return f"<raw kernel {self.name}>"


def _named(module, what, ask):
    """What `ask` gives; the driver's failure with the name of what it did not find."""
    try:
        return ask()
    except CudaAPIError as error:
        failure = CudaAPIError(f"no {what} is to be had of {module}: {error}")
        failure.code = error.code
        raise failure from None


def _compiled(code, name, options, expressions):
    """What the driver loads, and {name expression: symbol}."""
    if code.startswith((_ELF, _FATBIN)) or b".version" in code and b".target" in code:
        if expressions:
            raise ValueError("name_expressions are of CUDA C: here is code that is compiled already")
        return code, {}
    device = need_device()
    if device.kind == "cpu":
        raise UnsupportedError("CUDA C in a RawModule is code for a GPU: the CPU device cannot run it")
    toolkit.find()
    major, minor = device.compute_capability
    binary, symbols = _core.compile_source(code.decode(), name, 10 * major + minor, "cubin", options, expressions)
    return binary, dict(zip(expressions, symbols, strict=True))
