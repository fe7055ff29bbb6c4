"""Bloom filters and counting filters."""
from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, TypeVar

from . import _core
from ._options import real, texts_of, whole

_Filter = TypeVar("_Filter", bound="BloomFilter")


class BloomFilter:
    """Was this item added? "No" is certain; "yes" is wrong at the rate `error` once `capacity` items are in.

    Items are str or bytes. The same items give the same bits on every machine. Threads may share a filter.

    >>> import twinsift
    >>> seen = twinsift.BloomFilter(1000)
    >>> seen.add("a"), seen.add("a"), "a" in seen, "b" in seen
    (True, False, True, False)
    >>> seen.update(["a", "b", "c"])
    2
    """

    _cell_bits = 1

    def __init__(self, capacity: int, error: float = 0.01) -> None:
        if not 1e-12 <= real("error", error) <= 0.5:
            raise ValueError(f"error must be 1e-12 to 0.5, not {error}")
        self._bloom = _core.Bloom(whole("capacity", capacity, 1), float(error), self._cell_bits)

    @classmethod
    def _of(cls: type[_Filter], bloom: _core.Bloom) -> _Filter:
        self = cls.__new__(cls)
        self._bloom = bloom
        return self

    def add(self, item: str | bytes) -> bool:
        """Adds an item; whether it was new."""
        return self._bloom.add(item)

    def update(self, items: Iterable[str | bytes] | Any, *, column: str = "text") -> int:
        """Adds many items, faster; how many were new. They may be anything that :func:`twinsift.pairs` accepts."""
        return self._bloom.update(texts_of(items, column, "item"))

    def __contains__(self, item: str | bytes) -> bool:
        return item in self._bloom

    def contains_many(self, items: Iterable[str | bytes] | Any, *, column: str = "text") -> memoryview:
        """For each item whether it may have been added, as a mask.

        >>> seen = BloomFilter(1000)
        >>> seen.update(["a", "b"])
        2
        >>> seen.contains_many(["b", "c"]).tolist()
        [True, False]
        """
        return memoryview(self._bloom.contains_many(texts_of(items, column, "item")))

    def union(self: _Filter, other: BloomFilter) -> _Filter:
        """A new filter that has the items of both, which must have been made alike."""
        if not isinstance(other, BloomFilter):
            raise TypeError(f"other must be a {type(self).__name__}, not {type(other).__name__}")
        return type(self)._of(self._bloom.unite(other._bloom))

    __or__ = union

    def save(self, path: str | os.PathLike[str], *, replace: bool = True) -> None:
        """Writes the filter to a file, all or nothing, for `twinsift bloom` as well."""
        self._bloom.save(path, replace)

    @classmethod
    def load(cls: type[_Filter], path: str | os.PathLike[str]) -> _Filter:
        """A copy in memory of a filter in a file."""
        bloom = _core.bloom_load(path)
        counts = bloom.info()["cell_bits"] > 1
        if counts != issubclass(cls, CountingFilter):
            kind = "counting filter" if counts else "Bloom filter, which does not count"
            raise ValueError(f"{os.fspath(path)}: is a {kind}: load it by {'CountingFilter' if counts else 'BloomFilter'}")
        return cls._of(bloom)

    @property
    def info(self) -> dict[str, Any]:
        """Its size, how many items it holds, and the rate of false answers now, computed from its cells."""
        return self._bloom.info()

    def __repr__(self) -> str:
        info = self.info
        return (
            f"<{type(self).__name__}: about {info['items']:,.0f} of {info['capacity']:,} items, "
            f"error {info['error_now']:.2g} (planned {info['error']:.2g}), {info['bytes']:,} bytes>"
        )


class CountingFilter(BloomFilter):
    """A Bloom filter that counts, and from which items can be removed again.

    >>> import twinsift
    >>> seen = twinsift.CountingFilter(1000)
    >>> seen.update(["a", "a", "b"])
    2
    >>> seen.count("a"), seen.remove("b"), "b" in seen
    (2, True, False)
    """

    _cell_bits = 16

    def count(self, item: str | bytes) -> int:
        """How often the item was added: seldom too high, never too low up to 65,535, which means that or more."""
        return self._bloom.count(item)

    def remove(self, item: str | bytes) -> bool:
        """Removes an item once. Remove only what was added. False if it is certainly absent."""
        return self._bloom.remove(item)
