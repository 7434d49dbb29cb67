"""Print the path of libdevice.10.bc as the PyPI package nvidia-nvvm (or an older nvcc package) installs it."""

import sys
from pathlib import Path

for folder in sys.path:
    found = sorted(Path(folder or ".", "nvidia").glob("*/nvvm/libdevice/libdevice.10.bc"))
    if found:
        print(found[-1])
        sys.exit(0)
sys.exit(1)
