"""Generates programs, runs each in CPython and as a kernel, compares, and prints figures.

    python tests/fuzz/run.py --programs 20000 --seed 1 --processes 2 [--device cuda] [--kind cooperation | sharing]

With --kind cooperation the programs' threads wait for each other and share memory, and a model of threads in Python
stands in CPython's place (cooperation.py). With --kind sharing arguments are arrays in one memory (sharing.py).

What the CPU device rounds in its own way (sin, exp, ...) CPython asks of it. Programs for a GPU have no functions that
are not exact; those with powers, or sizes of complex numbers, are skipped.

Programs that fail are made small and printed with their seed; the exit status is 1 then. A program that crashes the
process or never ends is named too: each chunk of seeds runs in a process of its own.
"""
import argparse
import collections
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
CHUNK = 200
SECONDS_FOR_A_CHUNK = 1800
INEXACT = {"sin", "cos", "exp", "expm1", "atan", "atan2", "hypot"}


def is_skipped(program):
    """Whether a GPU may give other bits."""
    has_complex = "complex" in program.text or any("complex" in kind for kind in [*program.kinds, *program.scalars])
    return "**" in program.text or "pow(" in program.text or (has_complex and "abs(" in program.text)


def verdict(program):
    """What differential.check says, or what was raised: (kind, text, compared threads)."""
    import differential

    from cujit import errors

    try:
        wrong, compared = differential.check(program)
    except errors.CujitError as error:
        text = str(error)
        return "refused", text, 0
    return ("mismatch" if wrong else "equal"), wrong or "", compared


def likeness(kind, text):
    """What a smaller program must have in common with the one that failed."""
    return kind, re.sub(r"\d+", "N", text.split("\n")[-1]) if kind == "refused" else ""


def cooperation_worker(first, count):
    """As worker, for threads that work together; a program is reported as it is."""
    import warnings

    import cooperation

    from cujit import errors

    warnings.simplefilter("ignore")
    for seed in range(first, first + count):
        print("start", seed, flush=True)
        program = cooperation.Cooperation(seed)
        try:
            wrong = cooperation.check(program)
            kind = "mismatch" if wrong else "equal"
        except errors.CujitError as error:
            kind, wrong = "refused", str(error)
        threads = program.threads * program.blocks
        print(kind, seed, threads, threads, flush=True)
        if wrong:
            print("report " + repr(f"{kind}, seed {seed}: {wrong}\n{program.text}"), flush=True)


def sharing_worker(first, count):
    """As worker, for arguments in one memory; what was made smaller has no races either."""
    import warnings

    import minimize
    import sharing

    from cujit import errors

    warnings.simplefilter("ignore")

    def said_of(program):
        try:
            wrong = sharing.check(program)
        except errors.CujitError as error:
            return "refused", str(error)
        return ("mismatch" if wrong else "equal"), wrong or ""

    for seed in range(first, first + count):
        print("start", seed, flush=True)
        program = sharing.generate(seed)
        kind, text = said_of(program)
        print(kind, seed, program.threads, program.threads, flush=True)
        if kind != "equal":
            small = minimize.minimize(program, lambda p, like=likeness(kind, text):
                                      likeness(*said_of(p)) == like and not sharing.has_races(p))
            print("report " + repr(f"{kind}, seed {seed}: {said_of(small)[1]}\n{small.text}"), flush=True)


def worker(first, count):
    """Runs seeds and prints a line for each: seed, verdict, compared threads."""
    import expressions
    import grammar
    import minimize

    for name in INEXACT if os.environ["CUJIT_DEVICE"] == "cuda" else ():
        expressions.MATH1.pop(name, None)
        expressions.MATH2.pop(name, None)
    for seed in range(first, first + count):
        print("start", seed, flush=True)
        program = grammar.generate(seed)
        if os.environ["CUJIT_DEVICE"] == "cuda" and is_skipped(program):
            print("skipped", seed, 0, 0, flush=True)
            continue
        kind, text, compared = verdict(program)
        print(kind, seed, compared, program.threads, flush=True)
        if kind != "equal":
            small = minimize.minimize(program, lambda p, like=likeness(kind, text): likeness(*verdict(p)[:2]) == like)
            print("report " + repr(f"{kind}, seed {seed}: {verdict(small)[1]}\n{small.text}"), flush=True)


WORKERS = {"values": worker, "cooperation": cooperation_worker, "sharing": sharing_worker}


def run_chunk(first, count, kind):
    """Lines of a worker process; a crash or a hang becomes a report."""
    command = [sys.executable, str(HERE / "run.py"), "--kind", kind, "--worker", str(first), str(count)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS_FOR_A_CHUNK)
        lines, status, errors = done.stdout.splitlines(), done.returncode, done.stderr
    except subprocess.TimeoutExpired as expired:
        lines, status, errors = (expired.stdout or b"").decode().splitlines(), "timeout", ""
    if status:
        started = [line for line in lines if line.startswith("start")]
        lines.append("report " + repr(f"process ended with {status} after {started[-1:]}\n{errors[-2000:]}"))
    return lines


def run(first, programs, processes, kind):
    """Figures: {verdict: programs}, the threads compared and run, and what failed."""
    figures, threads, reports = collections.Counter(), collections.Counter(), []
    chunks = [(s, min(CHUNK, first + programs - s)) for s in range(first, first + programs, CHUNK)]
    with ThreadPoolExecutor(processes) as pool:
        for lines in pool.map(lambda chunk: run_chunk(*chunk, kind), chunks):
            for line in lines:
                word, rest = line.split(" ", 1)
                if word == "report":
                    reports.append(rest)
                    print(eval(rest), flush=True)
                elif word != "start":
                    _, compared, run_threads = map(int, rest.split())
                    figures[word] += 1
                    threads["compared"] += compared
                    threads["run"] += run_threads
    return figures, threads, reports


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--kind", choices=sorted(WORKERS), default="values")
    parser.add_argument("--worker", nargs=2, type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if not options.worker:
        os.environ["CUJIT_DEVICE"] = options.device
    sys.path.insert(0, str(HERE))
    if options.worker:
        WORKERS[options.kind](*options.worker)
        return 0
    start = time.monotonic()
    figures, threads, reports = run(options.seed, options.programs, options.processes, options.kind)
    total = sum(figures.values()) - figures["skipped"]
    print(f"{total} programs from seed {options.seed} in {time.monotonic() - start:.0f} s: "
          f"{figures['equal']} equal, {figures['mismatch']} mismatches, {figures['refused']} refused, "
          f"{len(reports) - figures['mismatch'] - figures['refused']} crashes or hangs, {figures['skipped']} skipped")
    print(f"{threads['compared']} of {threads['run']} threads compared (the others' results are not defined)")
    return 1 if reports else 0


if __name__ == "__main__":
    sys.exit(main())
