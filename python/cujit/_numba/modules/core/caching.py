"""Files in which programs keep what they compile, by the names of numba.cuda.core.caching.

They are for what programs make themselves: cujit keeps its kernels in a cache of its own, which asks none of these.
"""
from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import tempfile
from abc import ABC, abstractmethod
from typing import Any

__all__ = ["CacheImpl", "IndexDataCacheFile"]


class _CacheLocator(ABC):
    """Where a function's files are, and what they are valid for."""

    @abstractmethod
    def get_cache_path(self) -> str:
        """The folder of the files."""

    @abstractmethod
    def get_source_stamp(self) -> Any:
        """What files are valid for: others than those of the same stamp are not read."""

    @abstractmethod
    def get_disambiguator(self) -> str | None:
        """A text that tells functions of the same name apart, or None."""

    @classmethod
    @abstractmethod
    def from_function(cls, function: Any, file: str) -> _CacheLocator | None:
        """A locator for a function of this file, or None where this class has no place for it."""

    def ensure_cache_path(self) -> None:
        """Makes the folder. OSError where it cannot be written to."""
        path = self.get_cache_path()
        os.makedirs(path, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass


class CacheImpl(ABC):
    """How one kind of compiled code becomes something that can be pickled, and is made of it again."""

    # Asked in this order; a program's own subclass names its own.
    _locator_classes: list[type[_CacheLocator]] = []

    def __init__(self, function: Any) -> None:
        code = function.__code__
        located = (cls.from_function(function, code.co_filename) for cls in self._locator_classes)
        found = next((locator for locator in located if locator is not None), None)
        if found is None:
            raise RuntimeError(f"no locator has a place for {function.__qualname__} of {code.co_filename}: "
                               f"{type(self).__name__}._locator_classes names the classes that are asked")
        self._locator = found
        parts = [*function.__module__.split("."), function.__qualname__.replace("<", "").replace(">", "")]
        told_apart = self._locator.get_disambiguator()
        self._filename_base = f"{'.'.join(parts[-2:])}-{code.co_firstlineno}" + (f"-{told_apart}" if told_apart else "")

    @property
    def locator(self) -> _CacheLocator:
        return self._locator

    @property
    def filename_base(self) -> str:
        """What the names of a function's files begin with."""
        return self._filename_base

    @abstractmethod
    def reduce(self, data: Any) -> Any:
        """What is pickled for `data`."""

    @abstractmethod
    def rebuild(self, target_context: Any, payload: Any) -> Any:
        """`data`, from what reduce() made of it."""

    @abstractmethod
    def check_cachable(self, data: Any) -> bool:
        """Whether `data` can be kept."""


class IndexDataCacheFile:
    """Objects by keys in a folder: an index, and a file for each object. All are replaced at once, so that a process
    which reads meanwhile sees the old ones or the new ones; what is damaged or of another stamp is as if it were not
    there.

    Examples
    --------
    >>> import tempfile
    >>> file = IndexDataCacheFile(tempfile.mkdtemp(), "example", source_stamp=1)
    >>> file.load("key") is None
    True
    >>> file.save("key", [1, 2])
    >>> file.load("key")
    [1, 2]
    """

    def __init__(self, cache_path: str, filename_base: str, source_stamp: Any) -> None:
        self._folder, self._base, self._stamp = cache_path, filename_base, source_stamp

    def save(self, key: Any, data: Any) -> None:
        """Keeps `data` under `key`, in the place of what was there."""
        os.makedirs(self._folder, exist_ok=True)
        names = self._names()
        names[key] = f"{self._base}.{hashlib.sha256(pickle.dumps((self._stamp, key))).hexdigest()[:16]}.nbc"
        self._write(names[key], pickle.dumps(data))
        self._write_index(names)

    def load(self, key: Any) -> Any:
        """What save() got for `key`, or None."""
        name = self._names().get(key)
        return None if name is None else self._read(name)

    def flush(self) -> None:
        """Forgets all."""
        os.makedirs(self._folder, exist_ok=True)
        self._write_index({})

    def _names(self) -> dict[Any, str]:
        found = self._read(f"{self._base}.nbi")
        return found[1] if isinstance(found, tuple) and len(found) == 2 and found[0] == self._stamp else {}

    def _write_index(self, names: dict[Any, str]) -> None:
        self._write(f"{self._base}.nbi", pickle.dumps((self._stamp, names)))

    def _read(self, name: str) -> Any:
        try:
            with open(os.path.join(self._folder, name), "rb") as file:
                return pickle.load(file)
        except Exception:   # a damaged pickle may raise any
            return None

    def _write(self, name: str, content: bytes) -> None:
        handle, temporary = tempfile.mkstemp(dir=self._folder)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            os.replace(temporary, os.path.join(self._folder, name))
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
