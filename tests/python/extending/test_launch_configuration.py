"""Overloads that ask for the launch's configuration, and kernels whose code depends on it."""
import threading

import numpy as np
import pytest

from cujit import cuda
from cujit.cuda import launchconfig
from cujit.extending import overload

seen = []


def threads_of_block():
    pass


@overload(threads_of_block)
def threads_of_block_for():
    config = launchconfig.ensure_current_launch_config()
    config.dispatcher.mark_launch_config_sensitive()
    seen.append((config.griddim, config.blockdim, config.sharedmem, config.stream))
    threads = config.blockdim[0]
    return lambda: threads


def kernel_of(function=threads_of_block):
    @cuda.jit
    def kernel(x):
        x[cuda.grid(1)] = function()
    return kernel


def launched(kernel, *configuration):
    x = np.zeros(64, np.int64)
    kernel[configuration](x)
    return x[0], x[configuration[0] * configuration[1] - 1]


def test_code_depends_on_the_configuration():
    kernel = kernel_of()
    seen.clear()
    early = kernel[1, 16]
    for _ in range(2):
        assert launched(kernel, 2, 8) == (8, 8)
        assert launched(kernel, 1, 32) == (32, 32)
        assert launched(kernel, 2, 8, 0, 64) == (8, 8)
    assert seen == [((2, 1, 1), (8, 1, 1), 0, 0), ((1, 1, 1), (32, 1, 1), 0, 0), ((2, 1, 1), (8, 1, 1), 64, 0)]
    x = np.zeros(16, np.int64)
    early(x)   # made before the code was known to depend on it
    assert x.tolist() == [16] * 16
    assert [each.launch_config_sensitive for each in kernel.overloads.values()] == [True]
    told = []
    other = kernel[1, 4]
    other.pre_launch_callbacks.append(lambda *given: told.append(given))
    other(x)
    assert x[:4].tolist() == [4] * 4 and told == [(kernel, other)]


def test_other_kernels_are_for_all_configurations():
    kernel = kernel_of(lambda: 3)
    assert launched(kernel, 2, 8) == launched(kernel, 1, 32) == (3, 3)
    assert [each.launch_config_sensitive for each in kernel.overloads.values()] == [False]


def test_arguments_are_seen_and_nothing_outside_of_a_launch():
    arguments = []

    def asks():
        pass

    @overload(asks)
    def asks_for():
        arguments.append(launchconfig.current_launch_config())
        return lambda: 1

    assert launchconfig.current_launch_config() is None
    kernel_of(asks).compile("void(float32[::1])")
    assert arguments == [None]
    kernel = kernel_of(asks)
    x = np.zeros(4, np.int64)
    kernel[1, 4](x)
    assert arguments[1].args == (x,) and arguments[1].dispatcher is kernel and len(arguments) == 2
    threads = [threading.Thread(target=lambda: arguments.append(launchconfig.current_launch_config()))]
    threads[0].start()
    threads[0].join()
    assert arguments[2] is None


def test_errors():
    with pytest.raises(RuntimeError, match="no code is compiled for a launch"):
        launchconfig.ensure_current_launch_config()
    kernel, other = kernel_of(), kernel_of()
    with pytest.raises(RuntimeError, match="no code is compiled for a launch"):
        kernel.mark_launch_config_sensitive()

    def wrong():
        pass

    @overload(wrong)
    def wrong_for():
        other.mark_launch_config_sensitive()
        return lambda: 1

    with pytest.raises(Exception, match="not of this kernel"):
        launched(kernel_of(wrong), 1, 1)
    assert launchconfig.current_launch_config() is None
    with pytest.raises(TypeError, match="expected a launcher"):
        kernel.bind(3)


def test_what_was_compiled_for_is_captured():
    kernel, other = kernel_of(lambda: 3), kernel_of()
    x = np.zeros(64, np.int64)
    with launchconfig.capture_compile_config(kernel) as captured, launchconfig.capture_compile_config(other) as bound:
        assert captured == {"config": None}
        kernel[2, 8](x)
        config = captured["config"]
        assert config.dispatcher is kernel and config.griddim == (2, 1, 1) and config.args == (x,)
        kernel[1, 4](x)
        assert captured["config"] is config   # it was compiled already
        kernel[1, 4](np.zeros(64, np.float32))
        assert captured["config"].blockdim == (4, 1, 1)
        other[1, 16](x)
        other[1, 32](x)   # code of its own
        assert bound["config"].blockdim == (32, 1, 1)
    kernel[1, 2](np.zeros(64, np.int16))
    other[1, 8](x)
    assert captured["config"].blockdim == (4, 1, 1) and bound["config"].blockdim == (32, 1, 1)
    for wrong in (None, 3):
        with pytest.raises(TypeError, match="a kernel is needed"), launchconfig.capture_compile_config(wrong):
            pass
