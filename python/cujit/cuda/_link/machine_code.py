"""Machine code of GPUs as text, made of PTX by the tools of a CUDA toolkit."""
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from cujit import _core
from cujit.errors import UnsupportedError

_FOLDERS = ("/usr/local/cuda",)


def _folders():
    homes = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), *_FOLDERS]
    return [str(Path(home, "bin")) for home in homes if home]


def _found(name):
    return shutil.which(name) or shutil.which(name, path=os.pathsep.join(_folders()))


def has_tools(*names):
    """Whether the toolkit's programs are there: disassemble() needs ptxas and nvdisasm, usage() the first."""
    return all(map(_found, names))


def _tool(name):
    """The path of a toolkit's program: on PATH, else below CUDA_HOME, CUDA_PATH or /usr/local/cuda."""
    found = _found(name)
    if found is None:
        raise RuntimeError(f"{name} of a CUDA toolkit is needed for machine code; it is neither on PATH nor in "
                           f"{', '.join(_folders())}")
    return found


def _run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{Path(command[0]).name} failed: {(done.stderr or done.stdout).strip()}")
    return done.stdout


def disassemble(ptx, max_registers=None, links=(), lines=False):
    """SASS of a kernel for the architecture that its PTX names, and of the LinkItems that it is linked with. lines:
    with comments that name the lines of the source, which the PTX tells.

    UnsupportedError for text that is no PTX (the CPU device's); RuntimeError when the tools are missing or refuse.
    """
    target = re.search(r"^\.target\s+(sm_\w+)", ptx, re.MULTILINE)
    if target is None:
        raise UnsupportedError("the CPU device has no SASS; inspect_asm() gives its assembly, cc= chooses a GPU")
    with tempfile.TemporaryDirectory() as folder:
        cubin = Path(folder, "kernel.cubin")
        if links:
            cubin.write_bytes(_linked(ptx, target[1], max_registers, links))
        else:
            _assemble(ptx, target[1], max_registers, cubin, ["-lineinfo"] if lines else [])
        return _run(_tool("nvdisasm"), *(["-g"] if lines else []), str(cubin))


def usage(ptx, max_registers=None):
    """What ptxas says of the kernel in PTX: registers of a thread, bytes of those that did not fit, and memory."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "kernel.ptx")
        source.write_text(ptx)
        target = re.search(r"^\.target\s+(sm_\w+)", ptx, re.MULTILINE)
        limit = [f"--maxrregcount={max_registers}"] if max_registers else []
        done = subprocess.run([_tool("ptxas"), "-v", f"-arch={target[1]}", *limit, "-o", f"{source}.cubin", source],
                              capture_output=True, text=True)
    used = re.search(r"Used (\d+) registers", done.stderr)
    spills = re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", done.stderr)
    if done.returncode or not used or not spills:
        raise RuntimeError(f"ptxas failed: {(done.stderr or done.stdout).strip()}")
    shared = re.search(r"(\d+) bytes smem", done.stderr)
    return {"registers of a thread": int(used[1]), "spilled, bytes written": int(spills[2]),
            "spilled, bytes read": int(spills[3]), "local memory of a thread, bytes": int(spills[1]),
            "shared memory of a block, bytes": int(shared[1]) if shared else 0}


def _assemble(ptx, architecture, max_registers, cubin, options=()):
    source = cubin.with_suffix(".ptx")
    source.write_text(ptx)
    limit = [f"--maxrregcount={max_registers}"] if max_registers else []
    _run(_tool("ptxas"), f"-arch={architecture}", *limit, *options, "-o", str(cubin), str(source))


def _linked(ptx, architecture, max_registers, links):
    from cujit.cuda._link.foreign import PTXSource

    sm = int(re.sub(r"\D", "", architecture))
    return _core.link((PTXSource(ptx, "kernel"), *links), sm, max_registers or 0)[0]
