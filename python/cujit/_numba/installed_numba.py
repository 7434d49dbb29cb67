"""What connects cujit with an installed numba while it stands in the place of numba.cuda: programs catch and filter
numba's classes, and assign to numba's settings."""
import os

import numba.core.config
import numba.core.errors

from cujit import config, errors


def connect():
    """cujit's errors and warnings are numba's of the same name, too; numba.config's settings of cuda are cujit's.

    But for the root, CujitError, whose place in memory is not that of numba's: each of its kinds becomes a NumbaError.
    """
    for name in errors.__all__:
        own, numbas = getattr(errors, name), getattr(numba.core.errors, name, None)
        if numbas is not None and own is not errors.CujitError and not issubclass(own, numbas):
            own.__bases__ = (*own.__bases__, numbas)
    errors.CujitError.__init__ = Exception.__init__   # not numba's, which wants other arguments
    settings = numba.core.config
    own_settings = {name: value for name, value in vars(type(config)).items() if isinstance(value, property)}
    hints = own_settings.pop("DISABLE_PERFORMANCE_WARNINGS")   # false says nothing of the two that it would turn on
    for name in own_settings.keys() & vars(settings).keys():
        if f"CUJIT_{name.removeprefix('CUDA_')}" not in os.environ:   # what was said of cujit's own
            setattr(config, name, bool(getattr(settings, name)))
    if settings.DISABLE_PERFORMANCE_WARNINGS:
        config.DISABLE_PERFORMANCE_WARNINGS = True
    own_settings["DISABLE_PERFORMANCE_WARNINGS"] = hints
    settings.__class__ = type("Settings", (type(settings),), own_settings)
