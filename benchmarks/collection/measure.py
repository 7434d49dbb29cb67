"""An entry of the collection run by one library: its time, its outputs, what it needs of a thread's registers."""

import numpy as np


class Launch:
    """An entry with a problem, as the libraries of peers.py take it."""

    def __init__(self, entry, problem):
        self.function, self.c_text, self.problem = entry.kernel, entry.c, problem
        self.c_name = entry.c_name()
        self.grid, self.block = problem.grid, problem.block

    def arguments(self, inputs, output):
        return inputs

    def c_arguments(self, inputs, output):
        return (*inputs, *self.problem.extents)


def arguments_by(put, problem):
    """The kernel's arguments, of the arrays that put() makes of the problem's."""
    arguments = [put(item) if isinstance(item, np.ndarray) else item for item in problem.arguments]
    for place, index in problem.views.items():
        arguments[place] = arguments[place][index]
    return arguments


def on_host(problem):
    return arguments_by(np.array, problem)


class Measured:
    """What one library does with an entry: ms, outputs, (registers, local bytes); or why not."""

    ms = outputs = why = None
    resources = (None, None)

    def __init__(self, peer, entry, problem, milliseconds):
        launch = Launch(entry, problem)
        try:
            arguments = arguments_by(peer.put, problem)
            kernel = peer.kernel(launch)
            run = peer.call(kernel, launch, arguments, None)
            run()
            peer.synchronize()
            self.outputs = [peer.get(arguments[place]) for place in problem.outputs]
            self.resources = peer.resources(kernel)
            self.ms = milliseconds(run)
        except Exception as error:  # a kernel that a library refuses is a row without it
            self.why = f"{peer.name}: {type(error).__name__}: {(str(error).strip() or '-').splitlines()[0][:150]}"


def expected_outputs(entry, problem):
    """The reference's outputs, as a list."""
    outputs = entry.reference(*on_host(problem))
    return list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
