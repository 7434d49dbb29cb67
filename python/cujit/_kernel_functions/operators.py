"""The functions of Python's operator module."""
from builtins import abs as absolute

from cujit._kernel_functions.stands_for import stands_for
from cujit._kernel_functions.tells_overflow import tells_overflow


@stands_for("operator.add", doc="a + b.")
@tells_overflow
def add(a, b):
    return a + b


@stands_for("operator.sub", doc="a - b.")
@tells_overflow
def sub(a, b):
    return a - b


@stands_for("operator.mul", doc="a * b.")
@tells_overflow
def mul(a, b):
    return a * b


@stands_for("operator.matmul", doc="a @ b, of dataclasses.")
def matmul(a, b):
    return a @ b


@stands_for("operator.truediv", doc="a / b.")
@tells_overflow
def truediv(a, b):
    return a / b


@stands_for("operator.floordiv", doc="a // b.")
@tells_overflow
def floordiv(a, b):
    return a // b


@stands_for("operator.mod", doc="a % b.")
@tells_overflow
def mod(a, b):
    return a % b


@stands_for("operator.pow", doc="a ** b.")
@tells_overflow
def pow(a, b):
    return a ** b


@stands_for("operator.lshift", doc="a << b.")
@tells_overflow
def lshift(a, b):
    return a << b


@stands_for("operator.rshift", doc="a >> b.")
@tells_overflow
def rshift(a, b):
    return a >> b


@stands_for("operator.and_", doc="a & b.")
@stands_for("cuda.cg.bit_and", doc="a & b, for cg.reduce.")
def and_(a, b):
    return a & b


@stands_for("operator.or_", doc="a | b.")
@stands_for("cuda.cg.bit_or", doc="a | b, for cg.reduce.")
def or_(a, b):
    return a | b


@stands_for("operator.xor", doc="a ^ b.")
@stands_for("cuda.cg.bit_xor", doc="a ^ b, for cg.reduce.")
def xor(a, b):
    return a ^ b


@stands_for("operator.lt", doc="a < b.")
def lt(a, b):
    return a < b


@stands_for("operator.le", doc="a <= b.")
def le(a, b):
    return a <= b


@stands_for("operator.eq", doc="a == b.")
def eq(a, b):
    return a == b


@stands_for("operator.ne", doc="a != b.")
def ne(a, b):
    return a != b


@stands_for("operator.ge", doc="a >= b.")
def ge(a, b):
    return a >= b


@stands_for("operator.gt", doc="a > b.")
def gt(a, b):
    return a > b


@stands_for("operator.is_", doc="a is b.")
def is_(a, b):
    return a is b


@stands_for("operator.is_not", doc="a is not b.")
def is_not(a, b):
    return a is not b


@stands_for("operator.concat", doc="a + b.")
def concat(a, b):
    return a + b


@stands_for("operator.iadd", doc="a += b.")
@tells_overflow
def iadd(a, b):
    a += b
    return a


@stands_for("operator.isub", doc="a -= b.")
@tells_overflow
def isub(a, b):
    a -= b
    return a


@stands_for("operator.imul", doc="a *= b.")
@tells_overflow
def imul(a, b):
    a *= b
    return a


@stands_for("operator.itruediv", doc="a /= b.")
@tells_overflow
def itruediv(a, b):
    a /= b
    return a


@stands_for("operator.ifloordiv", doc="a //= b.")
@tells_overflow
def ifloordiv(a, b):
    a //= b
    return a


@stands_for("operator.imod", doc="a %= b.")
@tells_overflow
def imod(a, b):
    a %= b
    return a


@stands_for("operator.ipow", doc="a **= b.")
@tells_overflow
def ipow(a, b):
    a **= b
    return a


@stands_for("operator.ilshift", doc="a <<= b.")
@tells_overflow
def ilshift(a, b):
    a <<= b
    return a


@stands_for("operator.irshift", doc="a >>= b.")
@tells_overflow
def irshift(a, b):
    a >>= b
    return a


@stands_for("operator.iand", doc="a &= b.")
def iand(a, b):
    a &= b
    return a


@stands_for("operator.ior", doc="a |= b.")
def ior(a, b):
    a |= b
    return a


@stands_for("operator.ixor", doc="a ^= b.")
def ixor(a, b):
    a ^= b
    return a


@stands_for("operator.iconcat", doc="a += b.")
def iconcat(a, b):
    a += b
    return a


@stands_for("operator.neg", doc="-a.")
@tells_overflow
def neg(a):
    return -a


@stands_for("operator.pos", doc="+a.")
def pos(a):
    return +a


@stands_for("operator.invert", "operator.inv", doc="~a.")
def invert(a):
    return ~a


@stands_for("operator.not_", doc="not a.")
def not_(a):
    return not a


@stands_for("operator.truth", doc="bool(a).")
def truth(a):
    return bool(a)


@stands_for("operator.abs", doc="abs(a).")
@tells_overflow
def abs(a):
    return absolute(a)


@stands_for("operator.index", doc="a, an integer.")
def index(a):
    return a


@stands_for("operator.contains", doc="b in a.")
def contains(a, b):
    return b in a


@stands_for("operator.getitem", doc="a[b].")
def getitem(a, b):
    return a[b]


@stands_for("operator.setitem", doc="a[b] = c.")
@tells_overflow
def setitem(a, b, c):
    a[b] = c


@stands_for("operator.countOf", doc="How many of the items are b.")
def countOf(a, b):
    count = 0
    for item in a:
        if item == b:
            count += 1
    return count


@stands_for("operator.indexOf", doc="The place of the first item that is b.")
def indexOf(a, b):
    for place, item in enumerate(a):
        if item == b:
            return place
    raise ValueError("sequence.index(x): x not in sequence")


@stands_for("operator.itemgetter", doc="A function that takes those items.")
def itemgetter(first, *others):
    def get(container):
        if len(others) == 0:
            return container[first]
        return tuple(container[place] for place in (first, *others))
    return get


def attributes(object, names):
    if len(names) == 0:
        return ()
    return getattr(object, names[0]), *attributes(object, names[1:])


@stands_for("operator.attrgetter", doc="A function that takes those attributes; dots lead to attributes of attributes.")
def attrgetter(first, *others):
    def get(object):
        if len(others) == 0:
            return getattr(object, first)   # a name with dots, too: functions of cujit's own can
        return attributes(object, (first, *others))
    return get


@stands_for("operator.methodcaller", doc="A function that calls that method.")
def methodcaller(name, /, *given, **keywords):
    def call(object):
        return getattr(object, name)(*given, **keywords)
    return call
