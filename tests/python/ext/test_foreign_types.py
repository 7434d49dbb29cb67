"""Types of an installed numba, as programs have them that changed only the import of cuda. Numba itself is not needed:
its classes are known by their names, and these have them."""
import numpy as np
import pytest

from cujit import cuda, errors, guvectorize, types, vectorize


def numbas(name, *bases, **attributes):
    return type(name, bases, {"__module__": "numba.core.types.made", **attributes})


Type = numbas("Type", object, __init__=lambda self, name, **attributes: self.__dict__.update(attributes, name=name),
              __repr__=lambda self: self.name, __getitem__=lambda self, axes: Array(
                  "array", dtype=self, ndim=len(axes) if isinstance(axes, tuple) else 1, layout="A", mutable=True),
              __call__=lambda self, *types: Signature(types, self))
Array, UniTuple, Record, Literal, NPDatetime, Opaque = (
    numbas(name, Type) for name in ("Array", "UniTuple", "Record", "Literal", "NPDatetime", "Opaque"))
Signature = numbas("Signature", object, __init__=lambda self, args, result: self.__dict__.update(
    args=args, return_type=result))
float32, float64, int32, none = map(Type, ("float32", "float64", "int32", "none"))


class numba:   # what the program's `import numba` binds
    float32, int32 = float32, int32
    record = Record("Record", dtype=np.dtype([("x", "f4"), ("n", "i4")], align=True))


def test_in_kernels():
    @cuda.jit
    def kernel(out):
        local, shared = cuda.local.array(2, numba.float32), cuda.shared.array(shape=(4, 2), dtype=numba.int32)
        local[0] = 0.1
        shared[cuda.threadIdx.x, 1] = numba.int32(2.75)
        out[cuda.threadIdx.x] = local[0] + shared[cuda.threadIdx.x, 1]

    out = np.zeros(4)
    kernel[1, 4](out)
    assert (out == np.float64(np.float32(0.1)) + 2).all()


def test_records():
    @cuda.jit
    def kernel(out):
        item = cuda.local.array(1, numba.record)
        item[0].x, item[0].n = 1.5, 3
        out[0] = item[0].x * item[0].n

    out = np.zeros(1)
    kernel[1, 1](out)
    assert out[0] == 4.5


def test_types_that_kernels_lack_are_named():
    opaque = Opaque("pyobject")

    @cuda.jit
    def kernel(out):
        out[0] = opaque(1)

    with pytest.raises(errors.UnsupportedError, match="opaque.* numba's type pyobject is none that kernels have"):
        kernel[1, 1](np.zeros(1))


@pytest.mark.parametrize("signature", [none(float32[:], int32), (float32[:], int32), [(float32[:], int32)]])
def test_signatures(signature):
    @cuda.jit(signature)
    def kernel(x, n):
        x[0] = n

    assert list(kernel.overloads) == [(types.float32[:], types.int32)]
    x = np.zeros(3, np.float32)
    kernel[1, 1](x, 7)
    assert x[0] == 7


def test_what_is_compiled_is_found_by_them():
    @cuda.jit
    def kernel(x, n):
        x[0] = n

    kernel.compile((float32[:], int32))
    key, = kernel.overloads
    assert kernel.overloads[key].max_cooperative_grid_blocks(32) >= 1
    for signature in (float32[:], int32), none(float32[:], int32), "(float32[:], int32)":
        assert signature in kernel.overloads and kernel.overloads[signature].argtypes == key
        assert kernel.overloads.get(signature) is not None
        assert kernel.inspect_llvm()[signature] == kernel.inspect_llvm(key)
        assert kernel.get_regs_per_thread()[signature] == kernel.get_regs_per_thread(key)
    for other in (float32[:], float32), "no signature", 3:
        assert other not in kernel.overloads and kernel.overloads.get(other, 4) == 4
        with pytest.raises(KeyError):
            kernel.overloads[other]


def test_what_types_become():
    def of(*args):
        @cuda.jit(args)
        def kernel(x):
            pass
        return next(iter(kernel.overloads))[0]

    read_only = Array("array", dtype=float64, ndim=2, layout="C", mutable=False)
    assert of(read_only) == types.Array(types.float64, 2, "C", readonly=True)
    assert of(UniTuple("t", types=(float32, int32))) == types.Tuple((types.float32, types.int32))
    assert of(Literal("Literal[int](3)", literal_type=int32)) == types.int32
    assert of(Array("a", dtype=NPDatetime("t", unit="s"), ndim=1, layout="C", mutable=True)) == \
        types.Array(types.NPDatetime("s"), 1, "C")


def test_device_functions_and_compiling():
    @cuda.jit(float32(float32), device=True)
    def half(x):
        return x / 2

    def kernel(x):
        x[0] = half(x[0])

    ptx, result = cuda.compile_ptx(kernel, (float32[:],))
    assert result == types.none and "f32" in ptx


def test_ufuncs():
    plus = vectorize([float32(float32, int32)], target="cuda")(lambda x, n: x + n)
    assert plus(np.ones(3, np.float32), np.int32(2)).dtype == np.float32

    @guvectorize([(float32[:], float32[:])], "(n)->(n)", target="cuda")
    def twice(x, out):
        for i in range(x.size):
            out[i] = 2 * x[i]

    assert (twice(np.ones((2, 3), np.float32)) == 2).all()


# --- functions --------------------------------------------------------------------------------------------------------

prange = numbas("prange", object)


def literal_unroll(container):
    return container


literal_unroll.__module__ = "numba.misc.special"


def test_functions_with_a_meaning_in_kernels():
    @cuda.jit
    def kernel(out):
        for i in prange(1, 4):
            out[0] += i
        for value in literal_unroll((1, 2.5)):
            out[1] += value

    out = np.zeros(2)
    kernel[1, 1](out)
    assert out.tolist() == [6, 3.5]


def test_names_of_numbas_compiler_come_from_numba(monkeypatch):
    import sys

    import cujit
    assert not hasattr(cujit, "no_such_name")
    monkeypatch.setitem(sys.modules, "numba", None)
    with pytest.raises(AttributeError, match="njit.* is numba's, which is not installed"):
        cujit.njit
    monkeypatch.setitem(sys.modules, "numba", numbas("module", object, prange=prange))
    monkeypatch.setattr(cujit, "prange", None, raising=False)   # what is found is kept: taken away again at the end
    monkeypatch.delattr(cujit, "prange")
    assert cujit.prange is prange
    del cujit.prange
