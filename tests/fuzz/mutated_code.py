"""Damaged code objects through the whole compiler: bytecode, constants and names of generated programs are changed at
random, and each must compile or be refused with an error of cujit. Nothing is launched.

    python tests/fuzz/mutated_code.py --programs 2000 --seed 1
"""
import argparse
import dis
import faulthandler
import random
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import grammar
import reference
from differential import compile_kernel, make_arguments

from cujit import _core, cuda, errors

CONSTANTS = [None, 0, 1, -1, 2.5, True, 1j, "text", (1, 2), (), ("a",), 2**63, 10**30, b"bytes", ..., frozenset({1}),
             "", (1, (2.5, None))]
SECONDS_FOR_ONE = 60
# CPython itself writes the caches of instructions when it makes a code object, even behind the end of the code.
ROOM_FOR_CACHES = bytes([dis.opmap["NOP"], 0]) * 20


def change_bytes(rng, raw):
    """Another argument, two instructions exchanged, or another opcode of the same code."""
    place, other = (rng.randrange(len(raw) // 2) * 2 for _ in range(2))
    roll = rng.random()
    if roll < 0.6:
        raw[place + 1] = rng.choice([0, 1, 2, 3, 4, 5, rng.randrange(256)])
    elif roll < 0.8:
        raw[place:place + 2], raw[other:other + 2] = raw[other:other + 2], raw[place:place + 2]
    else:
        raw[place] = raw[other]


def change_code(rng, code):
    """A code object with something else in one place."""
    roll = rng.random()
    if roll < 0.6:
        raw = bytearray(code.co_code)
        for _ in range(rng.randrange(1, 3)):
            change_bytes(rng, raw)
        return code.replace(co_code=bytes(raw) + ROOM_FOR_CACHES)
    if roll < 0.8 and code.co_consts:
        constants = list(code.co_consts)
        constants[rng.randrange(len(constants))] = rng.choice(CONSTANTS)
        return code.replace(co_consts=tuple(constants))
    if roll < 0.95 and code.co_names:
        names = list(code.co_names)
        others = ["shape", "cuda", "math", "range", "sin", "nowhere", "len"]
        names[rng.randrange(len(names))] = rng.choice([*names, *others])
        return code.replace(co_names=tuple(names))
    names = list(code.co_varnames)
    names[rng.randrange(len(names))] = rng.choice(names)
    return code.replace(co_varnames=tuple(names))


def try_one(seed):
    """'compiled', or the class of the error with which it was refused."""
    rng = random.Random(seed)
    program = grammar.generate(seed % 1000)
    function = compile_kernel(reference.kernel_text(program.text)).py_func
    targets = [function] + [v for v in function.__globals__.values() if callable(v) and hasattr(v, "__code__")]
    target = rng.choice(targets)
    target.__code__ = change_code(rng, target.__code__)
    types = tuple(_core.type_of(argument) for argument in make_arguments(program))
    try:
        cuda.jit(function).inspect(rng.choice(["ir", "ir", "asm"]), types, rng.choice([80, None]))
    except errors.CujitError as error:
        return type(error).__name__
    return "compiled"


def run(first, count):
    """{outcome: how many}. A crash or an endless loop ends the process with the seed and a traceback."""
    outcomes = {}
    for seed in range(first, first + count):
        faulthandler.dump_traceback_later(SECONDS_FOR_ONE, exit=True)
        try:
            outcome = try_one(seed)
        except Exception as error:
            raise AssertionError(f"seed {seed}") from error
        outcomes[outcome] = outcomes.get(outcome, 0) + 1
    faulthandler.cancel_dump_traceback_later()
    return outcomes


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    faulthandler.enable()
    start = time.monotonic()
    outcomes = run(options.seed, options.programs)
    print(f"{options.programs} damaged programs in {time.monotonic() - start:.0f} s:",
          ", ".join(f"{count} {name}" for name, count in sorted(outcomes.items())))


if __name__ == "__main__":
    main()
