"""The devices: what there is, which one this thread uses, and what it can do."""
import contextlib
import functools
import threading
from collections import namedtuple

from cujit import _core
from cujit.errors import CudaAPIError, DriverMissingError

# The CPU device runs whatever the first of these GPUs does, so programs that ask get this answer.
CPU_COMPUTE_CAPABILITY = (7, 5)

MemoryInfo = namedtuple("MemoryInfo", "free total")


class _Thread(threading.local):
    """Which devices this thread has entered; empty until it needs one."""

    def __init__(self):
        self.stack = []


_thread = _Thread()


class Device:
    """The CPU device or a GPU. CUDA's device attributes are attributes in capitals: device.MULTIPROCESSOR_COUNT.

    `with device:` makes it this thread's current one for the block.
    """

    def __init__(self, core):
        self._core = core

    @property
    def id(self):
        """The number of the device, from 0."""
        return self._core.id

    @property
    def name(self):
        return self._core.name

    @property
    def kind(self):
        """"cuda" or "cpu"."""
        return self._core.kind

    @property
    def compute_capability(self):
        """(major, minor); the CPU device names the oldest GPU that cujit compiles for."""
        return divmod(self._core.sm, 10) if self.kind == "cuda" else CPU_COMPUTE_CAPABILITY

    @property
    def uuid(self):
        """"GPU-" and the 16 bytes in the usual groups of hexadecimal digits."""
        digits = bytes(self._core.uuid()).hex()
        return "GPU-" + "-".join(digits[i:j] for i, j in [(0, 8), (8, 12), (12, 16), (16, 20), (20, 32)])

    @property
    def _device(self):
        """What numba's `cuda.gpus[0]`, which is a context manager there, has in it."""
        return self

    @property
    def supports_float16(self):
        return self.compute_capability >= (5, 3)

    @property
    def supports_bfloat16(self):
        return self.compute_capability >= (8, 0)

    def synchronize(self):
        """Waits until all work on the device is done."""
        self._core.synchronize()

    def get_primary_context(self):
        return Context(self)

    def reset(self):
        """Waits until the device is idle. Arrays and kernels stay valid."""
        self.synchronize()

    def __getattr__(self, name):
        if name.isupper():
            from cujit.cuda.device_attributes import NUMBERS

            if self.kind == "cpu" and name.startswith("COMPUTE_CAPABILITY_"):
                return CPU_COMPUTE_CAPABILITY[name == "COMPUTE_CAPABILITY_MINOR"]
            if name in NUMBERS:
                return self._core.attribute(NUMBERS[name])
        raise AttributeError(f"a device has no attribute '{name}'")

    def __enter__(self):
        enter(self)
        return self

    def __exit__(self, *_):
        leave()

    def __repr__(self):
        return f"<{'CUDA device' if self.kind == 'cuda' else 'CPU device'} {self.id} '{self.name}'>"


@functools.cache
def _device(kind, number):
    return Device(_core.Device(kind, number))


def need_device():
    """This thread's current device, chosen now where there is none."""
    if not _thread.stack:
        core = _core.current_device()
        _thread.stack.append((_device(core.kind, core.id), core))
    return _thread.stack[-1][0]


def enter(device):
    """Makes `device` the current one of this thread until leave()."""
    before = _core.current_device()
    _core.set_current_device(device._core)
    _thread.stack.append((device, before))


def leave():
    _, before = _thread.stack.pop()
    _core.set_current_device(before)


class _DeviceList:
    """The devices of this process: the GPUs, or the CPU device where it is the one in use."""

    @functools.cached_property
    def lst(self):
        kind = _core.current_device().kind
        return [_device(kind, k) for k in range(_core.gpu_count() if kind == "cuda" else 1)]

    @property
    def current(self):
        """This thread's current device, or None while it has none."""
        return _thread.stack[-1][0] if _thread.stack else None

    def __len__(self):
        return len(self.lst)

    def __iter__(self):
        return iter(self.lst)

    def __getitem__(self, index):
        return self.lst[index]

    def __repr__(self):
        return repr(self.lst)


gpus = _DeviceList()


def list_devices():
    """The devices, as a list."""
    return list(gpus)


def get_current_device():
    """The device that this thread's arrays, streams and launches go to."""
    return need_device()


def select_device(device_id):
    """Makes that device this thread's current one, and returns it. IndexError where there is none of this number."""
    if not 0 <= device_id < len(gpus):
        raise IndexError(f"there is no device {device_id}; there {'is' if len(gpus) == 1 else 'are'} {len(gpus)}")
    device = gpus[device_id]
    _core.set_current_device(device._core)
    if _thread.stack:
        _thread.stack[-1] = (device, _thread.stack[-1][1])
    else:
        _thread.stack.append((device, device._core))
    return device


def close():
    """Waits for the work of this thread's device and forgets which device it was. Arrays and kernels stay valid."""
    if _thread.stack:
        synchronize()
    _thread.stack.clear()


class Context:
    """A device's state, under numba's name. Two objects for one device are equal."""

    def __init__(self, device):
        self.device = device

    @property
    def deallocations(self):
        """Memory that is to be freed."""
        return Deallocations()

    def __eq__(self, other):
        return isinstance(other, Context) and self.device is other.device

    def __hash__(self):
        return hash(self.device)

    def __repr__(self):
        return f"<context of {self.device!r}>"

    def get_memory_info(self):
        """(free, total) bytes of the device's memory."""
        return MemoryInfo(*self.device._core.memory_info())

    def synchronize(self):
        """Waits until all work on the device is done."""
        self.device.synchronize()

    def reset(self):
        self.device.reset()

    def push(self):
        """Makes the device this thread's current one until pop()."""
        enter(self.device)

    def pop(self):
        leave()

    def create_stream(self):
        from cujit.cuda.streams import stream

        with self.device:
            return stream()

    def create_event(self, timing=True):
        with self.device:
            return _core.Event(timing=timing)


class Deallocations:
    """Memory that is to be freed, under numba's name. Nothing waits but within disable() or cuda.defer_cleanup():
    the memory of an array goes when the array does."""

    def __len__(self):
        return _core.deferred_count()

    @property
    def is_disabled(self):
        """Whether this is within disable() or defer_cleanup()."""
        return _core.is_deferring()

    def clear(self):
        """Frees what waits; nothing within disable()."""

    def disable(self):
        """cuda.defer_cleanup()."""
        return defer_cleanup()


def current_context(devnum=None):
    """The context of this thread's current device, or of the device with that number."""
    return Context(need_device() if devnum is None else gpus[devnum])


def require_context(function):
    """Decorates a function that needs a current device."""

    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        need_device()
        return function(*args, **kwargs)

    return wrapper


def synchronize():
    """Waits until all work on this thread's device is done."""
    need_device().synchronize()


# --- what there is ---------------------------------------------------------------------------------------------------

def is_available():
    """Whether kernels can run on a GPU: there is a driver, it works and reports one, and CUJIT_DEVICE allows it."""
    import os

    if os.environ.get("CUJIT_DEVICE", "auto") == "cpu":
        return False
    try:
        return _core.gpu_count() > 0
    except (CudaAPIError, DriverMissingError):
        return False


def is_supported_version():
    """Whether the driver is new enough; True where there is none, since the CPU device needs no driver."""
    return cuda_error() is None


def cuda_error():
    """The error that keeps GPUs from being used (an exception), or None."""
    try:
        _core.gpu_count()
    except (CudaAPIError, DriverMissingError) as error:
        return error
    return None


def detect():
    """Prints the devices; returns whether one of them is a GPU."""
    print(f"Found {len(gpus)} device{'s' if len(gpus) != 1 else ''}")
    for device in gpus:
        major, minor = device.compute_capability
        kind = f"GPU, compute capability {major}.{minor}" if device.kind == "cuda" else "CPU device"
        print(f"  {device.id}: {device.name} ({kind})")
    if not is_available():
        print(f"No GPU: {cuda_error() or _core.gpu_missing_reason() or 'CUJIT_DEVICE=cpu'}")
    return is_available()


def is_float16_supported():
    return need_device().supports_float16


def is_bfloat16_supported():
    return need_device().supports_bfloat16


class runtime:
    """The CUDA version of the driver."""

    @staticmethod
    def get_version():
        """(major, minor). DriverMissingError without a driver."""
        version = _core.driver_version()
        return version // 1000, version % 1000 // 10


@contextlib.contextmanager
def defer_cleanup():
    """A context in which no device memory is freed; what was dropped meanwhile is freed at the end of the outermost."""
    _core.begin_deferring()
    try:
        yield
    finally:
        _core.end_deferring()


# --- nothing to do, kept for programs that call them -----------------------------------------------------------------

def profile_start():
    """Marks the start of a range for a profiler."""


def profile_stop():
    """Marks the end of a range for a profiler."""


@contextlib.contextmanager
def profiling():
    """A context between profile_start() and profile_stop()."""
    profile_start()
    try:
        yield
    finally:
        profile_stop()
