"""The types of vectors by their names, and each as a name of its own."""
from cujit import _core

vector_types = dict(_core.vector_types)
globals().update(vector_types)
