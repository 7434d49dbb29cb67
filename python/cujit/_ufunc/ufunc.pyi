from collections.abc import Callable
from typing import Any, overload

class UFunc:
    nin: int
    nout: int
    nargs: int
    ntypes: int
    types: list[str]
    max_blocksize: int
    def __call__(self, *args: Any, out: Any = None, stream: Any = 0) -> Any: ...
    def outer(self, first: Any, second: Any, out: Any = None, stream: Any = 0) -> Any: ...
    def reduce(self, arg: Any, stream: Any = 0) -> Any: ...

@overload
def vectorize(ftylist_or_function: Callable[..., Any], target: str = "cuda", **options: Any) -> UFunc: ...
@overload
def vectorize(ftylist_or_function: Any = (), target: str = "cuda",
              **options: Any) -> Callable[[Callable[..., Any]], UFunc]: ...
