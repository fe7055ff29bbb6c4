"""An index on disk, of documents for near-duplicate queries."""
from __future__ import annotations

import operator
import os
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, Union

from . import _core
from ._options import Progress, Texts, choice, progress_of, real, scheme_of, texts_of, threads_of, whole

Id = Union[str, int, bytes]


class Entry(NamedTuple):
    """A document of an index; in answers, with its similarity to the query."""

    id: str | int | float
    similarity: float
    label: int
    time: int
    document: int  #: its number: larger if added later, never used again
    set: int  #: the number of its set, equal for copies
    set_size: int  #: shingles; 0: an empty text, similar to nothing


class Matches(list):  # type: ignore[type-arg]
    """The documents that are similar to a query, most similar first: a list of :class:`Entry`."""

    estimated: bool = False  #: similarities are estimates, since the index keeps neither sets nor texts
    incomplete: bool = False  #: there were more candidates than `most_compared`: similar documents may be missing

    @classmethod
    def _of(cls, answer: tuple[list[tuple[Any, ...]], bool, bool]) -> Matches:
        self = cls(Entry._make(entry) for entry in answer[0])
        _, self.estimated, self.incomplete = answer
        return self


def _id_bytes(one: object, what: str = "an id") -> tuple[bytes, bool]:
    if isinstance(one, bytes):
        return one, False
    try:
        if isinstance(one, str):
            return one.encode("utf-8", "surrogateescape"), False
        return str(operator.index(one)).encode(), True  # type: ignore[arg-type]
    except UnicodeEncodeError:
        raise ValueError(f"{what} has a lone surrogate, which is not text") from None
    except TypeError:
        raise TypeError(f"{what} must be str, int or bytes, not {type(one).__name__}") from None


def _ids_of(ids: Iterable[Id]) -> tuple[_core.Texts, bytes]:
    if isinstance(ids, (str, bytes)):
        raise TypeError("expected many ids, such as a list, not a single one")
    if hasattr(ids, "to_pylist"):  # of pyarrow, whose items are objects of its own
        ids = ids.to_pylist()
    if not hasattr(ids, "__iter__"):
        raise TypeError(f"ids must be many, such as a list, not {type(ids).__name__}")
    pairs = [_id_bytes(one, f"id {number}") for number, one in enumerate(ids)]
    if empty := [number for number, (one, _) in enumerate(pairs) if not one]:
        raise ValueError(f"id {empty[0]} is empty")  # which the library would number
    return _core.Texts([one for one, _ in pairs], what="id"), bytes(number for _, number in pairs)


def _threshold(threshold: float | None) -> float:
    """As the library takes it: 0 is that of the index."""
    if threshold is None:
        return 0.0
    if not 0 < real("threshold", threshold) <= 1:
        raise ValueError(f"threshold must be above 0 and at most 1, not {threshold}")
    return float(threshold)


def _bounds(threshold: float | None, top: int | None, most_compared: int | None) -> tuple[float, int, int]:
    """The same for the limits of a query."""
    most = 0 if top is None else whole("top", top, 1)
    compared = 0 if most_compared is None else whole("most_compared", most_compared, 1)
    return _threshold(threshold), most, compared


class Index:
    """An index in a file: documents by id, and queries for those similar to a text.

    `mode` is "r" to read, or "w" to read and write an index that exists; :meth:`create` makes a new one. Many processes
    may read while one writes; each change is one transaction. Threads may share an index. As a context it is closed at
    the end.

    >>> import tempfile, twinsift
    >>> folder = tempfile.TemporaryDirectory()
    >>> with twinsift.Index.create(folder.name + "/news.twin") as index:
    ...     change = index.add([7, "b"], ["Bread prices rise.", "The harbour board met."])
    ...     [(entry.id, entry.similarity) for entry in index.query("bread  prices rise.")]
    [(7, 1.0)]
    >>> index = twinsift.Index(folder.name + "/news.twin")
    >>> len(index), 7 in index, list(index), index.query("something else")
    (2, True, [7, 'b'], [])
    >>> index.close()
    """

    def __init__(self, path: str | os.PathLike[str], mode: str = "r") -> None:
        self._path, self._mode = os.fspath(path), mode
        self._index = _core.Index(path, bool(choice("mode", mode, ("r", "w"))))

    @classmethod
    def create(
        cls, path: str | os.PathLike[str], *, keep: str = "sets", replace: bool = False, **scheme: Any
    ) -> Index:
        """Creates an empty index and opens it for writing. `keep` is what is stored of a document besides its signature:
        "sets", "text" or "none". Other keywords are those of :class:`Signer`."""
        _core.index_create(path, scheme_of(**scheme), keep, replace)
        return cls(path, "w")

    def close(self) -> None:
        """Closes the file. The index cannot be used any more."""
        self._index.close()

    def __enter__(self) -> Index:
        return self

    def __exit__(self, *details: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Index({self._path!r}, {self._mode!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        if self._mode != "r":
            raise TypeError("an index that is open for writing cannot be sent to another process")
        return Index, (self._path, "r")

    @property
    def scheme(self) -> str:
        """How its documents are signed, as a line."""
        return self._index.options[0]

    @property
    def keep(self) -> str:
        """What is stored of a document besides its signature: "sets", "text" or "none"."""
        return self._index.options[1]

    def add(
        self,
        ids: Iterable[Id],
        texts: Texts,
        *,
        label: int = 0,
        time: int = 0,
        column: str = "text",
        threads: int = 0,
        progress: Progress = None,
    ) -> dict[str, int]:
        """Adds texts under ids, in transactions of 20,000; one whose id exists replaces the earlier. The counts of what
        was done. Ids are str, int or bytes. If it is stopped, the transactions before that remain."""
        names, numbers = _ids_of(ids)
        marks = whole("label", label, 0, 2**32 - 1), whole("time", time, 0, 2**64 - 1)
        with progress_of(progress) as call:
            return self._index.add(names, numbers, texts_of(texts, column), *marks, threads_of(threads), call)

    def remove(self, ids: Iterable[Id]) -> list[bool]:
        """Removes documents, in one transaction; for each id, whether it was there."""
        return self._index.remove(_ids_of(ids)[0])

    def query(
        self,
        text: str | bytes,
        *,
        threshold: float | None = None,
        top: int | None = None,
        most_compared: int | None = None,
    ) -> Matches:
        """The documents similar to a text, most similar first; `top` of them at most. `threshold` is the index's own
        unless given. Among more than `most_compared` candidates (10,000) the most promising are compared."""
        return Matches._of(self._index.query(text, *_bounds(threshold, top, most_compared)))

    def query_many(
        self,
        texts: Texts,
        *,
        threshold: float | None = None,
        top: int | None = None,
        most_compared: int | None = None,
        column: str = "text",
        threads: int = 0,
        progress: Progress = None,
    ) -> list[Matches]:
        """The same for many texts, in parallel."""
        with progress_of(progress) as call:
            answers = self._index.query_many(
                texts_of(texts, column), *_bounds(threshold, top, most_compared), threads_of(threads), call
            )
        return list(map(Matches._of, answers))

    def get(self, id: Id) -> Entry | None:
        """The document with an id, or None."""
        entry = self._index.get(_id_bytes(id)[0])
        return None if entry is None else Entry._make(entry)

    def text(self, id: Id) -> str | None:
        """The normalised text of a document, of an index that keeps texts; None if there is no such document."""
        return self._index.text(_id_bytes(id)[0])

    def pairs(
        self,
        *,
        threshold: float | None = None,
        copies: str = "first",
        threads: int = 0,
        progress: Progress = None,
    ) -> list[tuple[Any, Any, float]]:
        """All similar pairs of the index, as tuples of two ids and a similarity. `copies` is "first" or "none"."""
        number = 2 * choice("copies", copies, ("first", "none"))
        with progress_of(progress) as call:
            return self._index.pairs(_threshold(threshold), number, threads_of(threads), call)

    def check(self, *, progress: Progress = None) -> None:
        """Reads the whole index and raises FormatError with the first inconsistency."""
        with progress_of(progress) as call:
            self._index.check(call)

    def compact(self) -> None:
        """Replaces the file by a copy without unused space. No other handle may be writing it, nor any other of this
        process reading it."""
        self._index.close()
        try:
            _core.index_compact(self._path)
        finally:
            self._index = _core.Index(self._path, self._mode == "w")

    @property
    def info(self) -> dict[str, int]:
        """Counts and sizes; reads most of the index."""
        return self._index.info()

    def __len__(self) -> int:
        return self._index.count()

    def __contains__(self, id: Id) -> bool:
        return self.get(id) is not None

    def __iter__(self) -> Iterator[Any]:
        return iter(self._index.ids())
