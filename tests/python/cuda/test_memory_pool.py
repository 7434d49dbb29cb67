"""The pools of device memory and of pinned memory: what is kept, counted, limited and given back."""
import gc
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

from cujit import cuda, errors


@pytest.fixture(autouse=True)
def in_a_process_whose_pool_keeps_blocks(request):
    """The CPU device's keeps none once check="init" has asked what was written: then the test runs in another."""
    pool = cuda.get_default_memory_pool()
    pool.free_all_blocks()
    cuda.device_array(1000, np.int8)
    gc.collect()
    if pool.n_free_blocks():
        pool.free_all_blocks()
        return
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist",
               f"{__file__}::{request.node.name}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)
    assert done.returncode == 0, done.stdout
    pytest.skip("passed in a process of its own")


@pytest.fixture
def pool():
    """The current device's, with nothing kept; afterwards without a limit."""
    pool = cuda.get_default_memory_pool()
    gc.collect()
    pool.free_all_blocks()
    yield pool
    pool.set_limit(size=0)
    pool.free_all_blocks()


@pytest.fixture
def pinned():
    pinned = cuda.get_default_pinned_memory_pool()
    gc.collect()
    pinned.free_all_blocks()
    yield pinned
    pinned.set_limit(size=0)
    pinned.free_all_blocks()


def test_c15_pairs_of_allocation_and_release_ask_the_driver_once(pool):
    before = pool.n_allocations()
    for _ in range(10_000):
        cuda.device_array(1000, np.float32)
    assert pool.n_allocations() - before == 1


def test_c15_a_block_serves_sizes_that_are_a_little_smaller(pool):
    del (large := [cuda.device_array(100_000, np.int8)])[:]
    before = pool.n_allocations()
    near = cuda.device_array(95_000, np.int8)
    assert pool.n_allocations() == before
    cuda.device_array(10_000, np.int8)   # not in place of so much
    assert pool.n_allocations() == before + 1
    assert near.size == 95_000 and not large


def test_c16_c17_statistics(pool):
    """CuPy's numbers for its script."""
    used, total = pool.used_bytes(), pool.total_bytes()
    array = cuda.to_device(np.ones(100, np.float32))
    assert array.nbytes == 400
    assert (pool.used_bytes() - used, pool.total_bytes() - total, pool.n_free_blocks()) == (512, 512, 0)
    del array
    assert (pool.used_bytes() - used, pool.total_bytes() - total, pool.n_free_blocks()) == (0, 512, 1)
    assert pool.free_bytes() == 512
    pool.free_all_blocks()
    assert (pool.total_bytes() - total, pool.n_free_blocks()) == (0, 0)
    assert "0 kept in 0 blocks" in repr(pool)


@pytest.mark.parametrize("give_back", [
    lambda: cuda.get_current_device().reset(), lambda: cuda.current_context().reset(), cuda.close,
], ids=["device", "context", "close"])
def test_who_resets_a_device_wants_its_memory_back(pool, pinned, give_back):
    stays = cuda.to_device(np.arange(1000))
    cuda.device_array(100_000, np.int8)
    cuda.pinned_array(100_000, np.int8)
    gc.collect()
    assert pool.free_bytes() > 0 and pinned.free_bytes() > 0
    give_back()
    assert pool.free_bytes() == pinned.free_bytes() == 0
    assert (stays.copy_to_host() == np.arange(1000)).all()


def test_c18_the_pinned_pool(pinned):
    used = pinned.used_bytes()
    array = cuda.pinned_array(100, np.float32)
    assert (pinned.used_bytes() - used, pinned.n_free_blocks()) == (512, 0)
    address = array.ctypes.data
    del array
    assert pinned.n_free_blocks() == 1
    again = cuda.pinned_array(100, np.float32)
    assert again.ctypes.data == address and pinned.n_free_blocks() == 0
    del again
    pinned.free_all_blocks()
    assert pinned.n_free_blocks() == 0 and pinned.total_bytes() == used
    pinned.set_limit(size=used + 1000)
    with pytest.raises(errors.DeviceMemoryError, match="1000 bytes of pinned memory"):
        cuda.pinned_array(2000, np.int8)


LIMITED = """
from cujit import cuda
import numpy as np
pool = cuda.get_default_memory_pool()
print(pool.get_limit(), pool._use()[3] / cuda.current_context().get_memory_info().total)
try:
    cuda.device_array(1 << 21, np.int8)
except MemoryError as error:
    print(error)
"""


def test_c19_a_limit_by_the_environment(run_python):
    said = run_python(LIMITED, CUJIT_GPU_MEMORY_LIMIT="1048576")
    assert said.startswith("1048576 ") and "cannot allocate 2097152 bytes" in said
    assert "the limit is 1048576 bytes, of which 0 are in use" in said
    _, part = run_python(LIMITED, CUJIT_GPU_MEMORY_LIMIT="50%").split()
    assert float(part) == pytest.approx(0.5)
    assert run_python(LIMITED, CUJIT_GPU_MEMORY_LIMIT="0").startswith("0 ")


@pytest.mark.parametrize("text", ["much", "120%", "-5", "5 GB", "1.5", "1e9", "0x10", "%", " ", "5%%", "1.2.3%", "+5"])
def test_c19_limits_that_are_none(run_python, text):
    program = "from cujit import cuda\ntry: cuda.device_array(1)\nexcept ValueError as error: print(error)"
    assert f"CUJIT_GPU_MEMORY_LIMIT={text}: expected bytes" in run_python(program, CUJIT_GPU_MEMORY_LIMIT=text)


def test_c20_an_allocation_beyond_the_limit_names_the_largest_places(pool):
    before = cuda.device_array(1024, np.int8)
    used = pool.used_bytes()
    pool.set_limit(size=used + 100 * 512)
    assert pool.get_limit() == used + 100 * 512
    many = [cuda.device_array(512, np.int8) for _ in range(60)]
    few = cuda.to_device(np.zeros(5120, np.int8))
    with pytest.raises(errors.DeviceMemoryError) as caught:
        cuda.device_array(40 * 512 + 1, np.int8)
    said = str(caught.value)
    line = test_c20_an_allocation_beyond_the_limit_names_the_largest_places.__code__.co_firstlineno
    assert isinstance(caught.value, MemoryError)
    assert f"cannot allocate {40 * 512 + 1} bytes" in said and f"{used + 70 * 512} are in use: " in said
    assert f"{60 * 512} from {__file__[-80:]}:{line + 5}, {10 * 512} from {__file__[-80:]}:{line + 6}" in said
    assert before.size + len(many) + few.size
    del few
    assert cuda.device_array(40 * 512, np.int8).size == 40 * 512


def test_c20_kept_memory_makes_room_under_the_limit(pool):
    del [cuda.device_array(50_000, np.int8)][:]
    pool.set_limit(size=pool.used_bytes() + 60_000)
    assert cuda.device_array(20_000, np.int8).size and pool.total_bytes() <= pool.get_limit()


def test_c20_kept_memory_is_no_way_round_a_limit(pool):
    held = cuda.device_array(4096, np.int8)
    del (large := [cuda.device_array(1 << 20, np.int8)])[:]
    assert pool.free_bytes() == 1 << 20 and not large
    pool.set_limit(size=pool.used_bytes() + 512)
    assert pool.free_bytes() == 0
    cuda.device_array(512, np.int8)
    pool.set_limit(size=pool.used_bytes() - 1)
    with pytest.raises(errors.DeviceMemoryError, match="of which"):
        cuda.device_array(512, np.int8)
    assert held.copy_to_host().size == 4096


def test_c20_a_small_fraction_is_a_limit(pool):
    pool.set_limit(fraction=1e-18)
    assert pool.get_limit() == 1
    with pytest.raises(errors.DeviceMemoryError):
        cuda.device_array(1, np.int8)
    pool.set_limit(fraction=0)
    assert pool.get_limit() == 0


def test_c20_threads_together_stay_below_a_limit(pool):
    limit = pool.used_bytes() + 64 * 1024
    pool.set_limit(size=limit)
    most, failures = [], []

    def work(seed):
        sizes, held = np.random.default_rng(seed).integers(1, 8192, 500), []
        for size in sizes.tolist():
            try:
                held.append(cuda.device_array(size, np.int8))
            except errors.DeviceMemoryError as error:
                failures.append(str(error))
                del held[:3]
            most.append(pool.used_bytes())
    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert max(most) <= limit and failures and all(f"the limit is {limit} bytes" in each for each in failures)


def test_c20_a_limit_in_the_middle_of_a_ufunc(pool):
    x = cuda.to_device(np.ones(10_000))
    double = cuda.vectorize(["float64(float64)"])(lambda a: 2 * a)
    pool.set_limit(size=pool.used_bytes() + 1000)
    with pytest.raises(errors.DeviceMemoryError):
        double(x)
    pool.set_limit(size=0)
    assert (double(x).copy_to_host() == 2).all()


@pytest.mark.parametrize(("arguments", "message"), [
    ({}, "one of the two"), ({"size": 5, "fraction": 0.5}, "one of the two"), ({"fraction": 1.5}, "from 0 to 1"),
    ({"size": -1}, "not negative")])
def test_c20_limits_that_are_none(pool, arguments, message):
    with pytest.raises(ValueError, match=message):
        pool.set_limit(**arguments)


def test_c20_a_limit_of_each_device_in_the_place_of_the_environments(fake_driver, run_python):
    program = """
from cujit import cuda
pool = cuda.get_default_memory_pool()
with cuda.gpus[1]:
    pool.set_limit(size=5000)
    print(pool.get_limit())
pool.set_limit(fraction=0.25)
print(pool.get_limit())
with cuda.gpus[1]:
    print(pool.get_limit())
"""
    said = run_python(program, CUJIT_DRIVER_LIBRARY=fake_driver, CUJIT_DEVICE="cuda", CUJIT_GPU_MEMORY_LIMIT="4096")
    assert said.split() == ["5000", str(2**21 // 4), "5000"]


def test_memory_that_is_kept_counts_as_free(pool):
    del [cuda.device_array(1 << 26, np.int8)][:]
    info = cuda.current_context().get_memory_info()
    assert info.free <= info.total and pool.free_bytes() == 1 << 26
    assert info.free >= 1 << 26


def test_threads_share_the_pool(pool):
    wrong = []

    def work(number):
        for size in range(1, 200):
            array = cuda.to_device(np.full(size * 7, number, np.int32))
            if not (array.copy_to_host() == number).all():
                wrong.append(number)

    used = pool.used_bytes()
    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    gc.collect()
    assert not wrong and pool.used_bytes() == used


RESIDENT = """
import gc, resource
import numpy as np
from cujit import cuda

def resident():
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()
"""


@pytest.mark.not_under("address", "AddressSanitizer keeps what was freed for a while")
def test_a18_cycles_of_arrays_streams_and_events_are_flat(run_python):
    grown = run_python(RESIDENT + """
def cycle():
    array, stream, event = cuda.device_array(100), cuda.stream(), cuda.event()
    event.record(stream)
    pinned = cuda.pinned_array(10)

for _ in range(1000):
    cycle()
before = resident()
for _ in range(100_000):
    cycle()
print(resident() - before)
""")
    assert int(grown) < 2 << 20


@pytest.mark.not_under("thread", "ThreadSanitizer keeps a history of what was accessed")
def test_a18_cycles_of_kernels_are_flat(run_python):
    grown = run_python(RESIDENT + """
def cycle(x):
    @cuda.jit
    def add(x):
        x[cuda.grid(1)] += 1
    add[1, 1](x)

x = cuda.device_array(1)
for _ in range(30):
    cycle(x)
before = resident()
for _ in range(150):
    cycle(x)
print(resident() - before)
""")
    assert int(grown) < 24 << 20   # what LLVM keeps of its own is a few MiB and does not grow with the number


DEVICE_MEMORY = """
x = cuda.to_device(np.zeros(1000))
x.__cuda_array_interface__
del x

def allocate():
    return cuda.device_array(1000)
"""
PINNED_MEMORY = """
@vectorize(["float32(float32, float32)"])
def add(x, y):
    return x + y

x = np.ones(1024, np.float32)
add(x, x)
cuda.get_default_pinned_memory_pool().free_all_blocks()
cuda.pinned_array(3072, np.float32)   # as much as the three arrays of a call have

def allocate():
    add(x, x)
"""


@pytest.mark.parametrize("begin", [DEVICE_MEMORY, PINNED_MEMORY], ids=["device", "pinned"])
def test_threads_run_while_an_allocation_waits(fake_driver, run_python, begin):
    """What another library knew is waited for when it is given away again, and so is pinned memory."""
    run_python(f"""
import os, warnings
import numpy as np
from cujit import cuda, vectorize
from ticking import ticking

warnings.simplefilter("ignore")
{begin}
os.environ["FAKE_DRIVER_WAIT"] = "500"
with ticking(at_least=0.4):
    kept = allocate()
os.environ["FAKE_DRIVER_WAIT"] = "0"
""", CUJIT_DRIVER_LIBRARY=fake_driver, CUJIT_DEVICE="cuda")
