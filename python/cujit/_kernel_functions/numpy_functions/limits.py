"""What numbers of a type can be: np.finfo and np.iinfo of a type that is known while compiling."""
from typing import NamedTuple

import numpy as np

from cujit import cuda
from cujit._kernel_functions.stands_for import stands_for
from cujit.types import float16, float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64


class FloatLimits(NamedTuple):
    bits: int
    eps: float
    epsneg: float
    max: float
    min: float
    tiny: float
    smallest_normal: float
    smallest_subnormal: float
    resolution: float
    precision: int


class IntegerLimits(NamedTuple):
    bits: int
    min: int
    max: int


def _of_float(dtype):
    info = np.finfo(dtype)
    return FloatLimits(*(getattr(info, name) for name in FloatLimits._fields))


def _of_integer(dtype):
    info = np.iinfo(dtype)
    return IntegerLimits(info.bits, int(info.min), np.uint64(info.max) if info.max >= 1 << 63 else int(info.max))


FLOAT16, FLOAT32, FLOAT64 = map(_of_float, (np.float16, np.float32, np.float64))
INT8, INT16, INT32, INT64 = map(_of_integer, (np.int8, np.int16, np.int32, np.int64))
UINT8, UINT16, UINT32, UINT64 = map(_of_integer, (np.uint8, np.uint16, np.uint32, np.uint64))


@stands_for("numpy.finfo", doc="The limits of a type of floats.")
def finfo(dtype):
    if dtype == float16:
        return FLOAT16
    if dtype == float32:
        return FLOAT32
    if dtype not in (float64, float):
        cuda._refuse("finfo takes a type of floats, such as np.float32 or array.dtype")
    return FLOAT64


@stands_for("numpy.iinfo", doc="The limits of a type of integers.")
def iinfo(dtype):
    if dtype == int8:
        return INT8
    if dtype == int16:
        return INT16
    if dtype == int32:
        return INT32
    if dtype in (int64, int):
        return INT64
    if dtype == uint8:
        return UINT8
    if dtype == uint16:
        return UINT16
    if dtype == uint32:
        return UINT32
    if dtype != uint64:
        cuda._refuse("iinfo takes a type of integers, such as np.int32 or array.dtype")
    return UINT64
