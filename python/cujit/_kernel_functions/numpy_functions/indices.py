"""NumPy's iterators over the places of arrays, as generators."""

from cujit._kernel_functions.stands_for import stands_for


def place(i, shape):
    """The indices of element number i in C order."""
    if len(shape) == 1:
        return (i,)
    return place(i // shape[-1], shape[:-1]) + (i % shape[-1],)


def places(shape):
    count = 1
    for extent in shape:
        count *= extent
    for i in range(count):
        yield place(i, shape)


@stands_for("numpy.ndindex", doc="The indices of arrays of such a shape, one after another.")
def ndindex(*shape):
    if len(shape) == 1 and isinstance(shape[0], tuple):
        return places(shape[0])
    return places(shape)


@stands_for("numpy.ndenumerate", doc="Pairs of an element's indices and the element.")
def ndenumerate(a):
    for i in range(a.size):
        yield place(i, a.shape), a.flat[i]
