"""What the functions of this folder stand for. The build reads the calls of stands_for without running them
(scripts/stands_for_index.py): its arguments are texts, it decorates a function or is what one is assigned from, and
every function has a name of its own in its module."""


def stands_for(*paths, doc=""):
    """The function has the place of what these paths lead to: in kernels they mean the function. Without a doc it
    is for an intrinsic of that path, which has one: for forms of calls that the intrinsic leaves to the function."""
    def mark(function):
        return function
    return mark
