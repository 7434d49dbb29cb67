"""Which functions of this folder the check `overflow` looks at: those whose arithmetic is the program's own, as the
additions of np.sum are. Hashes, random numbers, tricks with bits and counts of threads wrap on purpose or cannot."""


def tells_overflow(function):
    """What wraps in the function, or is divided by zero, is told of at the program's call."""
    function.tells_overflow = True
    return function
