"""Makes NumPy's functions of one number or two take arrays, too, with an array for the results. Also decides on the
types of their results."""
from cujit import cuda
from cujit._kernel_functions.tells_overflow import tells_overflow
from cujit.types import bfloat16, boolean, float16, float32, float64, int8, int16, uint8, uint16

INTEGER = int, bool
NUMBER = int, bool, float, complex
NARROW = boolean, int8, int16, uint8, uint16   # what float32 holds


def renamed(function, like):
    """The function under the name that messages and PTX show."""
    function.__code__ = function.__code__.replace(co_name=like.__name__, co_qualname=like.__name__)
    return function


def of_one(function):
    """np.sin(x) and np.sin(x, out)."""
    def call(x, out=None):
        if out is None:
            return function(x)
        cuda._array.fit(x, out)
        return fill_of_one(function, x, out)
    return renamed(call, function)


def of_two(function):
    """np.hypot(x, y) and np.hypot(x, y, out)."""
    def call(x, y, out=None):
        if out is None:
            return function(x, y)
        cuda._array.fit(x, out)
        cuda._array.fit(y, out)
        return fill_of_two(function, x, y, out)
    return renamed(call, function)


def part(x, out, i):
    """What of an operand meets out[i]: numbers and arrays of fewer axes are the same for all."""
    if isinstance(x, NUMBER):
        return x
    if x.ndim < out.ndim:
        return x
    return x[i if x.shape[0] != 1 else 0]


@tells_overflow
def fill_of_one(function, x, out):
    for i in range(out.shape[0]):
        if out.ndim == 1:
            out[i] = function(part(x, out, i))
        else:
            fill_of_one(function, part(x, out, i), out[i])
    return out


@tells_overflow
def fill_of_two(function, x, y, out):
    for i in range(out.shape[0]):
        if out.ndim == 1:
            out[i] = function(part(x, out, i), part(y, out, i))
        else:
            fill_of_two(function, part(x, out, i), part(y, out, i), out[i])
    return out


# --- types ------------------------------------------------------------------------------------------------------------


def as_float(x):
    """An integer as the float that holds its type, at least float32."""
    if isinstance(x, NARROW):
        return float32(x)
    if isinstance(x, INTEGER):
        return float64(x)
    return x


def as_wide(x):
    """What math's functions take that have no form for float16 and bfloat16."""
    if isinstance(x, (bfloat16, float16)):
        return float32(x)
    return x


def either(x, y):
    return x if x == y else y


def common(x, y):
    """The type for two numbers: of an integer and a float the float's, else the smallest that holds both."""
    if isinstance(x, INTEGER):
        if not isinstance(y, INTEGER):
            return type(y)
    elif isinstance(y, INTEGER):
        return type(x)
    return type(either(x, y))


def common_float(x, y):
    if isinstance(x, INTEGER):
        if not isinstance(y, INTEGER):
            return type(y)
    elif isinstance(y, INTEGER):
        return type(x)
    return common(as_float(x), as_float(y))
