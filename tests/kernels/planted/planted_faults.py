"""Kernels with one planted fault each: rows of a check's word, the memory and the construct of the language that the
fault is in, and a program. The program's faulty line ends in `# fault`, or `# fault: Error` where the error is not that
of the check; where a report names two lines, both do. A program has a function `kernel`, and `arguments()` where the
usual ones do not do; or it does its launches itself, in `launch(check)`."""
import linecache
import re
import warnings
from collections import namedtuple

import numpy as np
import planted_barriers
import planted_bounds
import planted_overflow
import planted_races
import planted_unbound
import planted_unwritten

from cujit import cuda
from cujit.errors import OverflowWarning

HEAD = """\
import functools
import math
import operator
import numpy as np
import cujit
from cujit import complex64, cuda, float32, float64, int8, int16, int32, int64, uint8, uint32, uint64

TABLE = np.arange(10.0)
PAIR = np.dtype([("a", np.float64), ("v", np.int32, 4)], align=True)


def on_device(*shape, dtype=np.float64, order="C"):
    return cuda.to_device(np.zeros(shape, dtype, order))


"""
ERRORS = {"bounds": "IndexError", "race": "RaceError", "init": "UninitializedError", "barrier": "BarrierError",
          "overflow": "OverflowWarning"}

Row = namedtuple("Row", "check memory construct source")
# found: the error is the row's; is_right: and so are its lines; report: what was raised, with its class.
Outcome = namedtuple("Outcome", "found is_right report")

MODULES = [("bounds", planted_bounds), ("race", planted_races), ("init", planted_unwritten), ("init", planted_unbound),
           ("barrier", planted_barriers), ("overflow", planted_overflow)]
ROWS = [Row(check, *row) for check, module in MODULES for row in module.ROWS]


def launch(row, path):
    path.write_text(HEAD + row.source)
    linecache.checkcache(str(path))
    scope = {}
    exec(compile(path.read_text(), str(path), "exec"), scope)
    if "launch" in scope:
        scope["launch"](row.check)
    else:
        kernel = cuda.jit(check=row.check)(scope["kernel"])  # arrays made before the first such one count as written
        arguments = scope["arguments"]() if "arguments" in scope else (np.arange(128.0), np.zeros(128))
        kernel[2, 64, 0, 1024](*arguments)
    cuda.synchronize()


def run(row, folder):
    """What comes of the row's program. CUJIT_CHECK has to say the row's check, for what takes no options."""
    path = folder / "planted.py"
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*may be unassigned")  # they are
            warnings.simplefilter("error", OverflowWarning)
            launch(row, path)
    except Exception as error:  # whatever it is, it is compared
        raised = error
    else:
        return Outcome(False, False, "nothing was found")
    marked = {number: text.partition("# fault")[2].lstrip(":").split() for number, text in
              enumerate(path.read_text().splitlines(), 1) if "# fault" in text}
    expected = {words[0] if words else ERRORS[row.check] for words in marked.values()}
    told = re.sub(r"^  called from .*", "", str(raised), flags=re.MULTILINE)
    named = {int(number) for number in re.findall(r"line (\d+)", told)}
    found = type(raised).__name__ in expected
    return Outcome(found, found and bool(named) and named <= marked.keys(), f"{type(raised).__name__}: {raised}")
