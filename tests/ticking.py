"""For tests of who waits with the GIL."""
import contextlib
import threading
import time


@contextlib.contextmanager
def ticking(at_least=0.0):
    """What is done meanwhile takes that many seconds, and other threads run."""
    ticks, over = [], threading.Event()

    def tick():
        while not over.is_set():
            time.sleep(0.001)    # Event.wait() of CPython 3.13t may sleep for longer
            ticks.append(1)

    thread = threading.Thread(target=tick)
    thread.start()
    before, start = len(ticks), time.monotonic()
    try:
        yield
    finally:
        during, lasted = len(ticks) - before, time.monotonic() - start
        over.set()
        thread.join()
    assert lasted > at_least, lasted
    assert during > 5, during
