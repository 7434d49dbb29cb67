"""The functions of Python's operator module."""
from builtins import abs as absolute


def add(a, b):
    return a + b


def sub(a, b):
    return a - b


def mul(a, b):
    return a * b


def truediv(a, b):
    return a / b


def floordiv(a, b):
    return a // b


def mod(a, b):
    return a % b


def pow(a, b):
    return a ** b


def lshift(a, b):
    return a << b


def rshift(a, b):
    return a >> b


def and_(a, b):
    return a & b


def or_(a, b):
    return a | b


def xor(a, b):
    return a ^ b


def lt(a, b):
    return a < b


def le(a, b):
    return a <= b


def eq(a, b):
    return a == b


def ne(a, b):
    return a != b


def ge(a, b):
    return a >= b


def gt(a, b):
    return a > b


def is_(a, b):
    return a is b


def is_not(a, b):
    return a is not b


def concat(a, b):
    return a + b


def iadd(a, b):
    a += b
    return a


def isub(a, b):
    a -= b
    return a


def imul(a, b):
    a *= b
    return a


def itruediv(a, b):
    a /= b
    return a


def ifloordiv(a, b):
    a //= b
    return a


def imod(a, b):
    a %= b
    return a


def ipow(a, b):
    a **= b
    return a


def ilshift(a, b):
    a <<= b
    return a


def irshift(a, b):
    a >>= b
    return a


def iand(a, b):
    a &= b
    return a


def ior(a, b):
    a |= b
    return a


def ixor(a, b):
    a ^= b
    return a


def iconcat(a, b):
    a += b
    return a


def neg(a):
    return -a


def pos(a):
    return +a


def invert(a):
    return ~a


def not_(a):
    return not a


def truth(a):
    return bool(a)


def abs(a):
    return absolute(a)


def index(a):
    return a


def contains(a, b):
    return b in a


def getitem(a, b):
    return a[b]


def setitem(a, b, c):
    a[b] = c


def countOf(a, b):
    count = 0
    for item in a:
        if item == b:
            count += 1
    return count


def indexOf(a, b):
    for place, item in enumerate(a):
        if item == b:
            return place
    raise ValueError("sequence.index(x): x not in sequence")


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


def attrgetter(first, *others):
    def get(object):
        if len(others) == 0:
            return getattr(object, first)   # a name with dots, too: functions of cujit's own can
        return attributes(object, (first, *others))
    return get


def methodcaller(name, /, *given, **keywords):
    def call(object):
        return getattr(object, name)(*given, **keywords)
    return call
