"""Which planted faults (tests/kernels/planted) check mode finds on the device in use, and how often it says the right
line: a table by check and memory. Ends with 1 where one is missed, and with what was said of it."""
import os
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "kernels" / "planted"))
warnings.simplefilter("ignore")

from planted_faults import ROWS, run  # noqa: E402

from cujit import cuda  # noqa: E402


def main():
    device = cuda.get_current_device()
    planted, found, right = Counter(), Counter(), Counter()
    missed = []
    with tempfile.TemporaryDirectory() as folder:
        for row in ROWS:
            place = row.check, row.memory
            os.environ["CUJIT_CHECK"] = row.check
            outcome = run(row, Path(folder))
            planted[place] += 1
            found[place] += outcome.found
            right[place] += outcome.is_right
            if not outcome.is_right:
                missed.append(f"{row.check}, {row.memory}, {row.construct}: {outcome.report}")
    print(f"{device.name}\n\n| check | memory | planted | found | line right |\n|---|---|---:|---:|---:|")
    for place in planted:
        print("| " + " | ".join([*place, *(str(each[place]) for each in (planted, found, right))]) + " |")
    print(f"| all | | {planted.total()} | {found.total()} | {right.total()} |")
    print("".join(f"\n{text}" for text in missed), end="")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
