"""Device arrays in Dask's messages, by the real distributed, and pickled."""
import pickle

import numpy as np
import pytest

from cujit import cuda

RECORD = np.dtype([("a", "<i2"), ("b", "<f8")], align=True)
ARRAYS = {
    "C": np.arange(12, dtype=np.float32).reshape(3, 4),
    "F": np.asfortranarray(np.arange(12).reshape(3, 4)),
    "empty": np.zeros((3, 0)),
    "scalar": np.array(7.5),
    "records": np.array([(1, 2.5), (3, 4.5)], RECORD),
    "dates": np.array(["2026-11-22", "NaT"], "datetime64[D]"),
}


def same(array, host):
    assert array.dtype == host.dtype and array.shape == host.shape
    np.testing.assert_array_equal(array.copy_to_host(), host)
    if host.size:
        assert array.is_f_contiguous() == host.flags.f_contiguous


@pytest.mark.parametrize("host", ARRAYS.values(), ids=ARRAYS)
def test_pickled(host):
    same(pickle.loads(pickle.dumps(cuda.to_device(host))), host)


def test_pickled_with_gaps():
    host = np.arange(24).reshape(4, 6)
    same(pickle.loads(pickle.dumps(cuda.to_device(host)[1:, ::2])), np.ascontiguousarray(host[1:, ::2]))


@pytest.fixture(scope="module")
def protocol():
    pytest.importorskip("distributed")
    from distributed import protocol

    import cujit.dask  # noqa: F401

    return protocol


@pytest.mark.parametrize("serializer", ["dask", "cuda"])
@pytest.mark.parametrize("host", ARRAYS.values(), ids=ARRAYS)
def test_in_messages(protocol, host, serializer):
    header, frames = protocol.serialize(cuda.to_device(host), serializers=[serializer], on_error="raise")
    assert header["serializer"] == serializer
    assert serializer == "cuda" or all(isinstance(frame, (bytes, memoryview)) for frame in frames)
    same(protocol.deserialize(header, frames), host)


@pytest.mark.parametrize("serializer", ["dask", "cuda"])
def test_gaps_do_not_travel(protocol, serializer):
    host = np.arange(24).reshape(4, 6)
    header, frames = protocol.serialize(cuda.to_device(host)[1:, ::2], serializers=[serializer], on_error="raise")
    assert sum(frame.nbytes for frame in frames) == 9 * 8
    same(protocol.deserialize(header, frames), np.ascontiguousarray(host[1:, ::2]))


def test_a_cluster_of_processes(protocol):
    from distributed import Client, LocalCluster

    with (LocalCluster(processes=True, n_workers=1, threads_per_worker=1, dashboard_address=None,
                       preload=["cujit.dask"]) as cluster, Client(cluster) as client):
        array = client.submit(cuda.to_device, ARRAYS["F"]).result(timeout=100)
        same(array, ARRAYS["F"])
