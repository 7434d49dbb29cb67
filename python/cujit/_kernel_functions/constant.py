"""Parameters whose value is known while a call is compiled, as a template argument is in C++."""


def constant(*names):
    """The function is compiled for each value of the parameters so called; other than constants are refused."""
    def mark(function):
        function.constant_parameters = names
        return function
    return mark
