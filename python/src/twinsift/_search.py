"""Similar pairs, and which texts are kept."""
from __future__ import annotations

import array
import itertools
from collections.abc import Iterable, Iterator
from typing import Any

from . import _core
from ._options import MEASURES, Progress, Texts, choice, progress_of, real, scheme_of, texts_of, threads_of, whole
from ._show import Example, examples_html, examples_text

_COPIES = ("first", "all", "none")
_KEEP = {"first": 0, "last": 5, "longest": 1, "shortest": 2}  # as numbers of twin_preference
NONE = 0xFFFFFFFF  #: the keeper of a text that is dropped for one of another collection


class _Result:
    """Columns that leave as Arrow, and a report."""

    _names: tuple[str, ...]
    _columns: tuple[_core.Array, ...]
    _examples: list[Example]

    #: Counts and times of the run.
    report: dict[str, Any]

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[Any, Any]:
        return _core.arrow_array(self._names, self._columns)

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        return _core.arrow_stream(self._names, self._columns)

    def _headline(self) -> str:
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self._headline()}>" + examples_text(self._examples)

    def _repr_html_(self) -> str:
        return examples_html(f"{type(self).__name__}: {self._headline()}", self._examples)


class Pairs(_Result):
    """Similar pairs, sorted: numbers of texts, a before b, and their similarity. See :func:`pairs`.

    `a`, `b` and `similarity` are buffers; the whole is an Arrow table of these three columns. It iterates over tuples.
    """

    _names = ("a", "b", "similarity")

    def __init__(self, columns: tuple[_core.Array, ...], report: dict[str, Any], examples: list[Example]) -> None:
        self._columns, self.report, self._examples = columns, report, examples
        self.a, self.b = memoryview(columns[0]), memoryview(columns[1])
        self.similarity: memoryview[float] = memoryview(columns[2]).cast("B").cast("d")

    def __len__(self) -> int:
        return len(self._columns[0])

    def __iter__(self) -> Iterator[tuple[int, int, float]]:
        return zip(self.a, self.b, self.similarity)

    def __getitem__(self, number: int) -> tuple[int, int, float]:
        return self.a[number], self.b[number], self.similarity[number]

    def _headline(self) -> str:
        return f"{len(self):,} among {self.report['documents']:,} texts"


class Dedup(_Result):
    """Which texts are kept when near-duplicates are dropped. See :func:`dedup`.

    `keep` is a mask, `kept` the numbers of the texts that are kept; `keeper` is, for each text, the one that is kept for
    it, itself if it is kept (4294967295: dropped for a text of `against`); `similarity` is that to its keeper.
    """

    _names = ("keep", "keeper", "similarity")

    def __init__(self, columns: tuple[_core.Array, ...], report: dict[str, Any], examples: list[Example]) -> None:
        keep, kept, keeper, similarity = columns
        self._columns, self.report, self._examples = (keep, keeper, similarity), report, examples
        self.keep: memoryview[bool] = memoryview(keep).cast("B").cast("?")
        self.kept, self.keeper = memoryview(kept), memoryview(keeper)
        self.similarity: memoryview[float] = memoryview(similarity).cast("B").cast("d")

    def __len__(self) -> int:
        return len(self._columns[0])

    def groups(self) -> Iterator[list[int]]:
        """The groups of at least two texts: the one that is kept, then those that are dropped for it.

        >>> import twinsift
        >>> list(twinsift.dedup(["a text", "another text", "A  TEXT", "a text"]).groups())
        [[0, 2, 3]]
        """
        found: dict[int, list[int]] = {}
        for number, keeper in enumerate(self.keeper):
            if keeper not in (number, NONE):
                found.setdefault(keeper, [keeper]).append(number)
        return (found[keeper] for keeper in sorted(found))

    def _headline(self) -> str:
        return f"{len(self.kept):,} of {len(self):,} texts kept"


def _edits_of(measure: str, threshold: float, max_edits: int | None) -> tuple[float, int]:
    """The ratio of a comparison by edits, or a negative number, and the most edits, or a negative number."""
    edits = choice("measure", measure, MEASURES) == 2
    if max_edits is not None and not edits:
        raise ValueError("max_edits needs measure='edit'")
    return real("threshold", threshold) if edits else -1.0, -1 if max_edits is None else whole("max_edits", max_edits)


def pairs(
    texts: Texts,
    *,
    threshold: float = 0.8,
    measure: str = "jaccard",
    shingle: str = "auto:9",
    hashes: int = 128,
    seed: int = 1,
    copies: str = "first",
    against: Texts = None,
    max_edits: int | None = None,
    column: str = "text",
    threads: int = 0,
    progress: Progress = None,
    **scheme: Any,
) -> Pairs:
    """The pairs of texts whose similarity is at least `threshold`, verified.

    `texts` is an iterable of str, bytes (UTF-8) and None, which is an empty text, or an object with the Arrow PyCapsule
    interface; of a table, `column` is taken.

    `measure` is the similarity: "jaccard" of the sets of shingles; "containment", the share of the smaller set that is in
    the larger; "edit", the share of characters that both texts have in the same order, for short texts and small
    changes, which `max_edits` may limit. `copies` says which pairs of texts with equal sets are listed: each with the
    "first" of its kind, "all", or "none". With `against`, pairs are between the two collections only: `a` is a text of
    the first. `threads` is 0 for one per processor. Further keywords are those of :class:`Signer`.

    >>> import twinsift
    >>> for a, b, similarity in twinsift.pairs(["a plum cake", "A plum  cake", "a plum cake!"], threshold=0.5):
    ...     print(a, b, round(similarity, 2))
    0 1 1.0
    0 2 0.75
    """
    edits = _edits_of(measure, threshold, max_edits)
    line = scheme_of(
        threshold=threshold, measure="jaccard" if measure == "edit" else measure, shingle=shingle, hashes=hashes,
        seed=seed, **scheme,
    )
    first = texts_of(texts, column)
    second = None if against is None else texts_of(against, column)
    copies_number = choice("copies", copies, _COPIES)
    with progress_of(progress) as call:
        *columns, report = _core.pairs(
            first, second, line, copies_number, *edits, threads_of(threads), call
        )
    others = first if second is None else second
    shown = zip(*(memoryview(each)[:5] for each in columns))
    return Pairs(tuple(columns), report, [Example(a, b, s, first[a], others[b]) for a, b, s in shown])


def ranks(values: Iterable[Any], *, largest: bool = False) -> list[int]:
    """Ranks for :func:`dedup`: 0 for the smallest value, or for the largest; equal for equal values. None and NaN come
    last.

    >>> ranks([3.5, None, 1, 3.5]), ranks(["b", "a"], largest=True)
    ([1, 2, 0, 1], [0, 1])
    """
    column = list(values)
    known = sorted({value for value in column if value is not None and value == value}, reverse=largest)
    number = {value: rank for rank, value in enumerate(known)}
    return [number.get(value, len(known)) for value in column]


def _order_of(rank: Any, count: int) -> array.array[int] | None:
    """The numbers of the texts, the preferred ones first; of equal ranks the earlier text."""
    if rank is None:
        return None
    if not hasattr(rank, "__iter__") or isinstance(rank, (str, bytes)):
        raise TypeError(f"rank must be a number for each text, not {type(rank).__name__}")
    values = rank.to_pylist() if hasattr(rank, "to_pylist") else list(rank)
    if len(values) != count:
        raise ValueError(f"{len(values)} ranks for {count} texts")
    for number, value in enumerate(values):
        if not hasattr(value, "__float__"):
            raise TypeError(f"rank {number} must be a number, not {type(value).__name__}; twinsift.ranks() makes them")
        if value != value:
            raise ValueError(f"rank {number} is NaN; twinsift.ranks() puts such texts last")
    return array.array("I", sorted(range(count), key=values.__getitem__))


def dedup(
    texts: Texts,
    *,
    keep: str = "first",
    rank: Any = None,
    chain: bool = False,
    threshold: float = 0.8,
    measure: str = "jaccard",
    shingle: str = "auto:9",
    hashes: int = 128,
    seed: int = 1,
    against: Texts = None,
    max_edits: int | None = None,
    column: str = "text",
    threads: int = 0,
    progress: Progress = None,
    **scheme: Any,
) -> Dedup:
    """Which texts are kept when near-duplicates are dropped.

    Of similar texts the `keep` one is kept: "first", "last", "longest" or "shortest"; or the one with the smallest `rank`, a
    sequence of a number for each text. A text is dropped only if it has been verified to be similar to the one that is
    kept for it, unless `chain` asks for connected components. With `against`, texts that are similar to one of that
    collection are dropped as well. Other arguments are those of :func:`pairs`.

    >>> import twinsift
    >>> result = twinsift.dedup(["A recipe for plum cake", "Bread", "a recipe for plum cake"])
    >>> result.keep.tolist(), result.kept.tolist(), result.keeper.tolist()
    ([True, True, False], [0, 1], [0, 1, 0])
    """
    edits = _edits_of(measure, threshold, max_edits)
    line = scheme_of(
        threshold=threshold, measure="jaccard" if measure == "edit" else measure, shingle=shingle, hashes=hashes,
        seed=seed, **scheme,
    )
    if rank is not None and keep != "first":
        raise ValueError("rank says which text is kept, so keep cannot be given too")
    preference = list(_KEEP.values())[choice("keep", keep, tuple(_KEEP))]
    first = texts_of(texts, column)
    second = None if against is None else texts_of(against, column)
    order = _order_of(rank, len(first))
    with progress_of(progress) as call:
        *columns, report = _core.dedup(first, second, line, preference, bool(chain), *edits, order, threads_of(threads), call)
    result = Dedup(tuple(columns), report, [])
    result._examples = _dropped(first, result)
    return result


def _dropped(texts: _core.Texts, result: Dedup) -> list[Example]:
    """The first texts that are dropped, beside those that are kept for them."""
    numbers = (number for number, keeper in enumerate(result.keeper) if keeper not in (number, NONE))
    return [
        Example(result.keeper[one], one, result.similarity[one], texts[result.keeper[one]], texts[one])
        for one in itertools.islice(numbers, 5)
    ]


def similarity(
    a: str | bytes, b: str | bytes, *, measure: str = "jaccard", shingle: str = "auto:9", normal: str = "fold",
    multiset: bool = False,
) -> float:
    """The exact similarity of two texts.

    >>> import twinsift
    >>> round(twinsift.similarity("a plum cake", "a plum cakes"), 3)
    0.75
    >>> twinsift.similarity("plum cake", "apple cake", measure="edit")
    0.7368421052631579
    >>> twinsift.similarity("abcab", "abca", shingle="char:2", multiset=True)  # each occurrence counts
    0.75
    """
    if choice("measure", measure, MEASURES) == 2:
        return _core.edit_ratio(a, b, normal)
    return _core.similarity(a, b, scheme_of(measure=measure, shingle=shingle, normal=normal, multiset=multiset))


def edit_distance(a: str | bytes, b: str | bytes, *, limit: int | None = None) -> int | None:
    """The Levenshtein distance: characters inserted, deleted or replaced; None if it is more than `limit`.

    >>> import twinsift
    >>> twinsift.edit_distance("kitten", "sitting"), twinsift.edit_distance("kitten", "sitting", limit=2)
    (3, None)
    """
    return _core.edit_distance(a, b, -1 if limit is None else whole("limit", limit))
