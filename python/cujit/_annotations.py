"""Names of types that several annotations share. Type checkers read it; no program imports it while it runs."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, Protocol, SupportsComplex, SupportsFloat, SupportsIndex, TypeAlias

from numpy.typing import DTypeLike, NDArray

from cujit._core import DeviceArrayBase, Signature, Type


class CudaStream(Protocol):
    """A stream of any library that has the protocol of CUDA's Python libraries."""

    def __cuda_stream__(self) -> tuple[int, int]: ...


class TorchStream(Protocol):
    """A stream of PyTorch's, also of versions without that protocol."""

    @property
    def cuda_stream(self) -> int: ...


class CupyStream(Protocol):
    """A stream of CuPy's, also of versions without that protocol."""

    ptr: int


class CudaArray(Protocol):
    """An array in device memory of any library."""

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...


class SupportsDLPack(Protocol):
    """An array of any library that has DLPack's methods."""

    def __dlpack__(self) -> object: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...


# --- what programs pass -----------------------------------------------------------------------------------------------

SignatureLike: TypeAlias = str | Signature | tuple[Type, ...]
Signatures: TypeAlias = SignatureLike | Sequence[SignatureLike]
StreamLike: TypeAlias = CudaStream | TorchStream | CupyStream | int | None
Shape: TypeAlias = SupportsIndex | Sequence[SupportsIndex]
HostOrDeviceArray: TypeAlias = NDArray[Any] | CudaArray | SupportsDLPack
ComputeCapability: TypeAlias = tuple[int, int]
ArgumentTypes: TypeAlias = tuple[Type, ...]
LaunchBounds: TypeAlias = int | tuple[int, ...] | None
PythonFunction: TypeAlias = Callable[..., Any]

# --- what kernels pass ------------------------------------------------------------------------------------------------

Array: TypeAlias = NDArray[Any] | DeviceArrayBase
ElementType: TypeAlias = Type | DTypeLike
Index: TypeAlias = SupportsIndex | tuple[SupportsIndex, ...]
Integer: TypeAlias = SupportsIndex
Real: TypeAlias = SupportsFloat | SupportsIndex
Number: TypeAlias = SupportsComplex | SupportsFloat | SupportsIndex
Scope: TypeAlias = Literal["block", "device", "system"]
Order: TypeAlias = Literal["relaxed", "acquire", "release", "acq_rel", "seq_cst"]
