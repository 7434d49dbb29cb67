"""Counts the faults of ptxas (codegen/nvptx/ptxas_fault.def) in machine code of random programs, without a GPU:

    python scripts/ptxas_faults.py --programs 2000 --seed 1 [--arch 90]

Programs of tests/fuzz/cooperation.py go through cujit, ptxas and nvdisasm, which have to be found on PATH. Ends with 1
where one of them has a form at fault, and says which program and instruction.
"""
import argparse
import re
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "fuzz"))
warnings.simplefilter("ignore")

from cooperation import Cooperation  # noqa: E402

from cujit import cuda, int32, int64, uint32, void  # noqa: E402

AT_ONCE = 20
SIGNATURE = void(int64[::1], int64[::1], int64[::1], int64[::1], int64)
# A product's high word joined with an addend of 64 bits: the instruction, its carry, and the pair's first register.
JOINED = re.compile(r"IMAD\.HI\.U32 \S+ (P\d), [^;]*, R(\d+)(?:\.reuse)? ;")
NEGATIVE_HIGH_WORD = re.compile(r"-0x1\b|~")
SHIFTED_NEGATIVE = re.compile(r"LEA\.HI\.SX32 \S+ -R[^;]*;")


def ptx_of(seed, arch):
    namespace = {"cuda": cuda, "int64": int64, "int32": int32, "uint32": uint32}
    text = Cooperation(seed).text.replace("def kernel(", f"def kernel{seed}(")
    exec(compile(text, "<cooperation>", "exec"), namespace)
    return cuda.compile_ptx(namespace[f"kernel{seed}"], SIGNATURE, cc=divmod(arch, 10))[0]


def machine_code(texts, arch, folder):
    """Of several modules at once: {kernel's name: its instructions}."""
    modules = [texts[0], *(text[text.index(".address_size"):].split("\n", 1)[1] for text in texts[1:])]
    source, cubin = Path(folder, "kernels.ptx"), Path(folder, "kernels.cubin")
    source.write_text("\n".join(modules))
    subprocess.run(["ptxas", f"-arch=sm_{arch}", source, "-o", cubin], check=True)
    sass = subprocess.run(["nvdisasm", "-c", cubin], check=True, capture_output=True, text=True).stdout
    parts = re.split(r"\.section\s+\.text\.(kernel\d+)", sass)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def last_made(register, before):
    """The instruction that made a register's value, as far as the text's order tells."""
    made = re.findall(rf"([A-Z][A-Z0-9_.]* {register}, [^;]*;)", before)
    return made[-1] if made else ""


def faults(code):
    """(which, instructions) of one kernel. What adds a constant, or ~y, is a sum as it should be."""
    for found in SHIFTED_NEGATIVE.finditer(code):
        yield "shifted_negative", found.group(0)
    for found in JOINED.finditer(code):
        carry, low = found.group(1), int(found.group(2))
        taken = re.search(rf"[^\n]*, {carry}(?:, !PT)? ;", code[found.end():])
        addend = last_made(f"R{low + 1}", code[:found.start()])
        is_sum = re.search(r", -?0x[0-9a-f]+ ;|, 0x33, !PT ;", addend)
        if taken and NEGATIVE_HIGH_WORD.search(taken.group(0)) and not is_sum:
            yield "high_word", f"{found.group(0)} {taken.group(0).split('*/')[-1].strip()} {addend}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--arch", type=int, default=90)
    options = parser.parse_args()
    figures, end = Counter(), options.seed + options.programs
    with tempfile.TemporaryDirectory() as folder:
        for first in range(options.seed, end, AT_ONCE):
            texts = [ptx_of(seed, options.arch) for seed in range(first, min(first + AT_ONCE, end))]
            for kernel, code in machine_code(texts, options.arch, folder).items():
                figures["programs"] += 1
                for which, text in faults(code):
                    figures[which] += 1
                    print(f"{which} in seed {kernel.removeprefix('kernel')}: {text}", flush=True)
    print(f"{figures['programs']} programs: high_word {figures['high_word']}, "
          f"shifted_negative {figures['shifted_negative']}")
    return 1 if len(figures) > 1 else 0


if __name__ == "__main__":
    sys.exit(main())
