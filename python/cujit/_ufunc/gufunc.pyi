from collections.abc import Callable
from typing import Any

class Layout:
    text: str
    inputs: list[tuple[str | int, ...]]
    outputs: list[tuple[str | int, ...]]
    def __init__(self, text: str) -> None: ...
    def lengths(self, name: str, shapes: list[tuple[int, ...]]) -> dict[str, int]: ...

class GUFunc:
    signature: str
    nin: int
    nout: int
    nargs: int
    types: list[str]
    max_blocksize: int
    def __init__(self, function: Callable[..., Any], signature_list: list[Any], layout: str,
                 options: dict[str, Any]) -> None: ...
    def __call__(self, *args: Any, out: Any = None, stream: Any = 0) -> Any: ...

def guvectorize(ftylist_or_layout: Any, layout: str | None = None, target: str = "cuda",
                **options: Any) -> Callable[[Callable[..., Any]], GUFunc]: ...
