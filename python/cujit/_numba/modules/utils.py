"""What programs that extend numba.cuda take from numba.cuda.utils."""
import contextlib
from collections.abc import Iterator


@contextlib.contextmanager
def numba_target_override() -> Iterator[None]:
    """Overloads for numba.cuda are looked for inside of it in numba. In cujit they always are."""
    yield
