"""math's functions of real numbers that are made of others."""
import math

from cujit.types import float64


def isclose(a, b, *, rel_tol=1e-09, abs_tol=0.0):
    x, y = float64(a), float64(b)
    if x == y:
        return True
    if math.isinf(x) or math.isinf(y):
        return False
    distance = abs(y - x)
    return distance <= abs(rel_tol * x) or distance <= abs(rel_tol * y) or distance <= abs_tol


def dist(p, q):
    size = float64(0)
    for x, y in zip(p, q):
        size = math.hypot(size, float64(x) - float64(y))
    return size


def ulp(x):
    size = math.fabs(x)
    if math.isnan(size) or math.isinf(size):
        return size
    above = math.nextafter(size, type(size)(math.inf))
    if math.isinf(above):
        return size - math.nextafter(size, type(size)(0))
    return above - size
