"""NumPy's functions that make one number of a whole array. The thread that calls them does all of it, in order."""
import math

from cujit._kernel_functions.integer_math import UNSIGNED
from cujit._kernel_functions.numpy_functions.arithmetic import larger, smaller
from cujit._kernel_functions.numpy_functions.elementwise import INTEGER, as_wide
from cujit._kernel_functions.stands_for import stands_for
from cujit._kernel_functions.tells_overflow import tells_overflow
from cujit.types import boolean, float64, int64, uint64


def fold(function, result, a):
    if a.ndim == 0:
        return function(result, a[()])
    for i in range(a.shape[0]):
        if a.ndim == 1:
            result = function(result, a[i])
        else:
            result = fold(function, result, a[i])
    return result


def zero(a):
    return a.dtype(0)


def in_sum(x, number):
    """The number in the type that sums of x's type have: integers in 64 bits."""
    if isinstance(x, UNSIGNED):
        return uint64(number)
    if isinstance(x, INTEGER):
        return int64(number)
    return type(x)(number)


def in_mean(x, number):
    if isinstance(x, INTEGER):
        return float64(number)
    return type(x)(number)


# --- sums -------------------------------------------------------------------------------------------------------------


@tells_overflow
def plus(total, x):
    return type(total)(total + type(total)(x))


@tells_overflow
def times(total, x):
    return type(total)(total * type(total)(x))


def plus_number(total, x):
    return total if x != x else plus(total, x)


def times_number(total, x):
    return total if x != x else times(total, x)


@stands_for("numpy.sum", doc="The sum of the elements.")
def sum_of(a):
    return fold(plus, in_sum(zero(a), 0), a)


@stands_for("numpy.prod", doc="The product of the elements.")
def product_of(a):
    return fold(times, in_sum(zero(a), 1), a)


@stands_for("numpy.nansum", doc="The sum of the elements that are numbers.")
def nansum(a):
    return fold(plus_number, in_sum(zero(a), 0), a)


@stands_for("numpy.nanprod", doc="The product of the elements that are numbers.")
def nanprod(a):
    return fold(times_number, in_sum(zero(a), 1), a)


@stands_for("numpy.mean", doc="The mean of the elements.")
@tells_overflow
def mean(a):
    return in_mean(zero(a), fold(plus, in_mean(zero(a), 0), a) / in_mean(zero(a), a.size))


def count_number(count, x):
    return count if x != x else count + 1


def numbers_of(a):
    return fold(count_number, int64(0), a)


@stands_for("numpy.nanmean", doc="The mean of the elements that are numbers.")
@tells_overflow
def nanmean(a):
    return in_mean(zero(a), nansum(a) / in_mean(zero(a), numbers_of(a)))


def squares_from(a, middle, skips_nan):
    total = in_mean(zero(a), 0).real
    if a.ndim == 0:
        return total * in_mean(zero(a), a[()]).real
    for i in range(a.shape[0]):
        if a.ndim > 1:
            total = type(total)(total + squares_from(a[i], middle, skips_nan))
        elif not skips_nan or a[i] == a[i]:
            distance = in_mean(zero(a), a[i]) - middle
            total = type(total)(total + type(total)((distance * distance.conjugate()).real))
    return total


@stands_for("numpy.var", doc="The variance of the elements.")
@tells_overflow
def var(a, ddof=0):
    total = squares_from(a, mean(a), False)
    return type(total)(total / type(total)(a.size - ddof))


@stands_for("numpy.nanvar", doc="The variance of the elements that are numbers.")
@tells_overflow
def nanvar(a, ddof=0):
    total = squares_from(a, nanmean(a), True)
    return type(total)(total / type(total)(numbers_of(a) - ddof))


@stands_for("numpy.std", doc="The standard deviation of the elements.")
def std(a, ddof=0):
    variance = var(a, ddof)
    return type(variance)(math.sqrt(as_wide(variance)))


@stands_for("numpy.nanstd", doc="The standard deviation of the elements that are numbers.")
def nanstd(a, ddof=0):
    variance = nanvar(a, ddof)
    return type(variance)(math.sqrt(as_wide(variance)))


def product_type(a, b):
    return type(a[0] * b[0])


@stands_for("numpy.dot", doc="The inner product of two vectors.")
@tells_overflow
def dot(a, b):
    """Of vectors."""
    total = product_type(a, b)(0)
    for i in range(a.shape[0]):
        total = type(total)(total + a[i] * b[i])
    return total


# --- extremes ---------------------------------------------------------------------------------------------------------


@stands_for("numpy.max", "numpy.amax", doc="The largest element; NaN where one is.")
def largest(a):
    return fold(larger, a.flat[0], a)


@stands_for("numpy.min", "numpy.amin", doc="The smallest element; NaN where one is.")
def smallest(a):
    return fold(smaller, a.flat[0], a)


def larger_number(x, y):
    return y if x != x or y > x else x


def smaller_number(x, y):
    return y if x != x or y < x else x


@stands_for("numpy.nanmax", doc="The largest element that is a number.")
def nanmax(a):
    return fold(larger_number, a.flat[0], a)


@stands_for("numpy.nanmin", doc="The smallest element that is a number.")
def nanmin(a):
    return fold(smaller_number, a.flat[0], a)


@stands_for("numpy.ptp", doc="The largest element less the smallest.")
@tells_overflow
def ptp(a):
    return a.dtype(largest(a) - smallest(a))


@stands_for("numpy.argmax", doc="The place of the largest element.")
def argmax(a):
    """The first place of the largest number, or of NaN, in C order."""
    best, place = a.flat[0], int64(0)
    for i in range(a.size):
        x = a.flat[i]
        if (x != x and best == best) or x > best:
            best, place = x, int64(i)
    return place


@stands_for("numpy.argmin", doc="The place of the smallest element.")
def argmin(a):
    best, place = a.flat[0], int64(0)
    for i in range(a.size):
        x = a.flat[i]
        if (x != x and best == best) or x < best:
            best, place = x, int64(i)
    return place


# --- truth ------------------------------------------------------------------------------------------------------------


def either_true(truth, x):
    return truth or bool(x)


def both_true(truth, x):
    return truth and bool(x)


def count_true(count, x):
    return count + 1 if x else count


@stands_for("numpy.any", doc="Whether any element is true.")
def any_true(a):
    return fold(either_true, boolean(False), a)


@stands_for("numpy.all", doc="Whether all elements are true.")
def all_true(a):
    return fold(both_true, boolean(True), a)


@stands_for("numpy.count_nonzero", doc="The number of elements that are not 0.")
def count_nonzero(a):
    return fold(count_true, int64(0), a)
