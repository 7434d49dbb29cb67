"""Write what a wheel contains of other projects as CycloneDX: name, version and licence of each (PEP 770).

Usage: sbom.py VERSION_OF_CUJIT FILE. The versions are those of the packages of this machine that a build takes."""
import json
import subprocess
import sys
import uuid
from pathlib import Path

# Name, licence, and the command that prints its version.
PARTS = [
    ("LLVM", "Apache-2.0 WITH LLVM-exception", ["llvm-config-22", "--version"]),
    ("zstd", "BSD-3-Clause", ["dpkg-query", "-W", "-f", "${Version}", "libzstd-dev"]),
    ("zlib", "Zlib", ["dpkg-query", "-W", "-f", "${Version}", "zlib1g-dev"]),
    ("libstdc++ and libgcc", "GPL-3.0-or-later WITH GCC-exception-3.1", ["gcc", "-dumpfullversion"]),
]
LIBDEVICE = {"type": "library", "name": "libdevice", "version": "10",
             "licenses": [{"license": {"name": "NVIDIA CUDA Toolkit EULA, redistributable"}}]}


def document(version):
    parts = [{"type": "library", "name": name, "licenses": [{"expression": licence}],
              "version": subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()}
             for name, licence, command in PARTS]
    own = {"type": "library", "name": "cujit", "version": version, "licenses": [{"expression": "Apache-2.0"}]}
    return {"bomFormat": "CycloneDX", "specVersion": "1.6", "serialNumber": f"urn:uuid:{uuid.uuid4()}", "version": 1,
            "metadata": {"component": own}, "components": [*parts, LIBDEVICE]}


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(json.dumps(document(sys.argv[1]), indent=1) + "\n", encoding="utf-8")
