"""Whether this machine has NVIDIA's libraries that compile and link."""
from cujit.cuda._link import toolkit
from cujit.errors import LinkerError


def has_library(compile_something):
    toolkit.find()
    try:
        compile_something()
    except LinkerError as error:
        return error.code != "TOOLKIT_MISSING"
    return True
