"""Measuring and printing."""

import statistics
import subprocess
import sys
import time


def median_seconds(run, finish, repeats=9, least=0.02):
    """Median over repeats of the time of run() with finish() after it, calls batched to at least `least` seconds."""
    run()
    finish()
    start = time.perf_counter()
    run()
    finish()
    batch = max(1, min(100, int(least / max(time.perf_counter() - start, 1e-7))))
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        for _ in range(batch):
            run()
        finish()
        times.append((time.perf_counter() - start) / batch)
    return statistics.median(times)


def brief_seconds(run, finish, most=0.15):
    """Median of up to 5 calls with finish() after each, of fewer where they take longer than `most` seconds."""
    run()
    finish()
    times, left = [], most
    while not times or len(times) < 5 and left > 0:
        start = time.perf_counter()
        run()
        finish()
        times.append(time.perf_counter() - start)
        left -= times[-1]
    return statistics.median(times)


def median_call_us(run, finish, calls=300, repeats=31):
    """Median over repeats of the host's time for one call, in microseconds; the queue is drained in between."""
    times = []
    for _ in range(3):
        run()
    finish()
    for _ in range(repeats):
        start = time.perf_counter()
        for _ in range(calls):
            run()
        times.append((time.perf_counter() - start) / calls)
        finish()
    return statistics.median(times) * 1e6


def median_kernel_ms(peer, run, launches=10, repeats=15):
    """Median over repeats of the device's time for one launch, between events around a batch of launches."""
    for _ in range(3):
        run()
    peer.synchronize()
    start, end = peer.event(), peer.event()
    times = []
    for _ in range(repeats):
        peer.record(start)
        for _ in range(launches):
            run()
        peer.record(end)
        times.append(peer.elapsed_ms(start, end) / launches)
    return statistics.median(times)


def child_values(script, *arguments, environment):
    """The numbers that a fresh Python prints when it runs the script; None when it fails."""
    command = [sys.executable, script, *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.stderr.write(done.stderr)
        return None
    return [float(word) for word in done.stdout.split()]


def median_columns(rows):
    return [statistics.median(column) for column in zip(*rows, strict=True)]


def print_table(title, header, rows):
    """Rows of cells: numbers get three significant digits, None a dash."""
    cells = [[str(cell) for cell in header], *[[shown(cell) for cell in row] for row in rows]]
    widths = [max(len(row[k]) for row in cells) for k in range(len(header))]
    print(f"\n{title}")
    for number, row in enumerate(cells):
        line = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        print("  " + "  ".join(line).rstrip())
        if number == 0:
            print("  " + "  ".join("-" * width for width in widths))


def print_markdown(title, header, rows):
    """Each row as soon as there is one, so that a run that is cut leaves those before."""
    print(f"\n{title}:\n")
    print("|".join(["", *(f" {cell} " if cell else " " for cell in header), ""]))
    print("|".join(["", "---", *["---:"] * (len(header) - 1), ""]), flush=True)
    for row in rows:
        print("|".join(["", *(f" {shown(cell)} " for cell in row), ""]), flush=True)


def shown(cell):
    if cell is None:
        return "-"
    if isinstance(cell, float):
        return f"{cell:.0f}" if cell >= 100 else f"{cell:.3g}"
    return str(cell)
