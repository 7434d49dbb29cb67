"""Every exception and warning of cujit's own.

The extension raises these classes by the names in core/diagnostic/diag.def. Every error has `code`: the row of
diag.def, such as "TYPE_OPERANDS", or the CUresult (int) where a call of the driver failed. Errors in a kernel's
source have the place: `filename`, `lineno` and `offset` (from 1); each is None where there is no such thing. The
bases are the builtin exceptions that programs written for numba.cuda catch.
"""

__all__ = [
    "BarrierError", "CheckError", "CommunicationError", "CommunicationTimeoutError",
    "CompileError", "CudaAPIError", "CujitError", "CujitWarning", "DeprecationError", "DeviceFunctionLaunchError",
    "DeviceMemoryError",
    "DriverMissingError", "InternalError", "KernelHangError", "KernelReturnError", "LaunchArgumentError",
    "LaunchConfigurationError", "LinkerError", "NoGPUWarning", "PerformanceWarning", "RaceError", "RankDiedError",
    "RanksDisagreeError", "SignatureError",
    "TypingError", "UninitializedError", "UnsupportedError",
    "OptionsWarning", "OverflowWarning",
    "CudaDriverError", "CudaRuntimeError", "CudaSupportError", "LoweringError", "NumbaDebugInfoWarning",
    "NumbaDeprecationWarning", "NumbaError", "NumbaExperimentalFeatureWarning", "NumbaInvalidConfigWarning",
    "NumbaPendingDeprecationWarning", "NumbaPerformanceWarning", "NumbaTypeSafetyWarning", "NumbaWarning",
    "NumbaAttributeError", "NumbaIndexError", "NumbaKeyError", "NumbaNotImplementedError", "NumbaTypeError",
    "NumbaValueError", "RequireLiteralValue",
    "ByteCodeSupportError", "ConstantInferenceError", "ForbiddenConstruct", "LiteralTypingError", "NotDefinedError",
    "NumbaAssertionError", "NumbaIRAssumptionWarning", "NumbaParallelSafetyWarning", "NumbaPedanticWarning",
    "NumbaRuntimeError", "NumbaSystemWarning", "UnsupportedBytecodeError", "UnsupportedParforsError",
    "VerificationError",
]


class CujitError(Exception):
    """What all errors of cujit have in common."""

    filename = None
    lineno = None
    offset = None
    code = None


class InternalError(CujitError, RuntimeError):
    """cujit broke a rule of its own; please report it."""


# --- the kernel's source ---------------------------------------------------------------------------------------------

class CompileError(CujitError):
    """A function could not be compiled."""


class TypingError(CompileError, TypeError):
    """An expression of a kernel has no type: an operand, argument, attribute or index that does not fit."""


class UnsupportedError(TypingError, NotImplementedError):
    """Python that kernels cannot use, or that the target does not have."""


class KernelReturnError(TypingError):
    """A kernel returns a value."""


class SignatureError(CujitError, TypeError, ValueError):
    """Text or objects that are no signature."""


class DeprecationError(CujitError):
    """An option that numba.cuda removed long ago: argtypes, restype, bind."""


# --- launching -------------------------------------------------------------------------------------------------------

class LaunchConfigurationError(CujitError, ValueError):
    """A kernel called without `[grid, block]`, or with one that no device can run."""


class DeviceFunctionLaunchError(CujitError, RuntimeError):
    """A launch of a function with device=True, which kernels call."""


class LaunchArgumentError(CujitError, TypeError):
    """An argument of a launch has a type that the kernel does not accept, or their number is wrong."""


class KernelHangError(CujitError, RuntimeError):
    """Threads of a block wait for each other in different places, for ever."""


# --- check mode ------------------------------------------------------------------------------------------------------

class CheckError(CujitError):
    """What check mode found in a kernel while it ran: `cuda.jit(check=...)`."""


class RaceError(CheckError, RuntimeError):
    """Two threads access the same memory, one of them writing, and nothing orders them."""


class UninitializedError(CheckError, RuntimeError):
    """A kernel reads memory that nothing has written."""


class BarrierError(CheckError, KernelHangError):
    """Threads that should meet do not: at different barriers, returned, or lanes of a mask that are not there."""


# --- devices ---------------------------------------------------------------------------------------------------------

class DriverMissingError(CujitError, RuntimeError):
    """A GPU was asked for, and there is no NVIDIA driver, or one that is too old."""


class CudaAPIError(CujitError, RuntimeError):
    """A call of the NVIDIA driver failed. `code` is the CUresult (int) where it is known."""


class DeviceMemoryError(CudaAPIError, MemoryError):
    """A device has not enough memory."""


class CommunicationError(CujitError, RuntimeError):
    """Something went wrong between the ranks of a communicator (cujit.comm), which is of no more use."""


class RanksDisagreeError(CommunicationError, ValueError):
    """Ranks that should make the same call made different ones, or with arrays of other shapes or dtypes."""


class RankDiedError(ConnectionError, CommunicationError):
    """A rank that others wait for has ended, closed its communicator or failed."""


class CommunicationTimeoutError(TimeoutError, CommunicationError):
    """Other ranks did not come within the communicator's timeout."""


class LinkerError(CujitError, RuntimeError):
    """Code from elsewhere could not be compiled or linked, or what does that is not installed."""


class NoIdentityError(CujitError, ValueError, TypeError):
    """A reduction has no elements and nothing to begin with: a ValueError in NumPy, a TypeError in numba.cuda."""


# --- warnings --------------------------------------------------------------------------------------------------------

class CujitWarning(UserWarning):
    """What all warnings of cujit have in common."""


class PerformanceWarning(CujitWarning):
    """The program is right and could be faster: a grid that fills no device, a host array copied there and back."""


class OverflowWarning(CujitWarning):
    """Arithmetic of a kernel went wrong: check="overflow". Given behind the launch, which is done all the same."""


class OptionsWarning(CujitWarning):
    """Options that exclude each other, or have no effect."""


class NoGPUWarning(CujitWarning):
    """There is no GPU; kernels run on the CPU device."""


# --- numba's names for them ------------------------------------------------------------------------------------------

NumbaError = CujitError
LoweringError = CompileError
CudaSupportError = DriverMissingError
CudaDriverError = CudaRuntimeError = CudaAPIError
NumbaWarning = CujitWarning
NumbaPerformanceWarning = PerformanceWarning
NumbaInvalidConfigWarning = OptionsWarning


class NumbaTypeError(TypingError):
    """For definitions of overloads to raise, as those below: "not for these types"."""


class NumbaValueError(TypingError):
    """As NumbaTypeError."""


class NumbaAttributeError(TypingError):
    """As NumbaTypeError."""


class NumbaIndexError(TypingError):
    """As NumbaTypeError."""


class NumbaKeyError(TypingError):
    """As NumbaTypeError."""


class NumbaNotImplementedError(TypingError):
    """As NumbaTypeError."""


class RequireLiteralValue(TypingError):
    """As NumbaTypeError."""


class NumbaDeprecationWarning(CujitWarning):
    """Not given: for programs that filter it, as those below."""


class NumbaPendingDeprecationWarning(CujitWarning):
    """Not given."""


class NumbaExperimentalFeatureWarning(CujitWarning):
    """Not given."""


class NumbaDebugInfoWarning(CujitWarning):
    """Not given."""


class NumbaTypeSafetyWarning(CujitWarning):
    """Not given."""


class NumbaPedanticWarning(CujitWarning):
    """Not given."""


class NumbaSystemWarning(CujitWarning):
    """Not given."""


class NumbaParallelSafetyWarning(CujitWarning):
    """Not given."""


class NumbaIRAssumptionWarning(CujitWarning):
    """Not given."""


class ConstantInferenceError(TypingError):
    """Not raised: for programs that catch it, as those below."""


class LiteralTypingError(TypingError):
    """Not raised."""


class NotDefinedError(TypingError):
    """Not raised."""


class NumbaAssertionError(TypingError):
    """Not raised."""


class ByteCodeSupportError(UnsupportedError):
    """Not raised."""


class ForbiddenConstruct(UnsupportedError):
    """Not raised."""


class UnsupportedBytecodeError(UnsupportedError):
    """Not raised."""


class UnsupportedParforsError(UnsupportedError):
    """Not raised."""


class VerificationError(CompileError):
    """Not raised."""


class NumbaRuntimeError(CujitError):
    """Not raised."""
