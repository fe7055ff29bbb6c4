"""Signatures of texts."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from . import _core
from ._options import Progress, Texts, progress_of, scheme_of, texts_of, threads_of


class Signatures(_core.Array):
    """Signatures of n texts: a read-only buffer of n rows of k 32-bit numbers, and an Arrow array of lists.

    >>> import twinsift
    >>> signatures = twinsift.Signer(hashes=4).sign_many(["one text", "another"])
    >>> len(signatures), memoryview(signatures).shape
    (2, (2, 4))
    >>> signatures[0].tolist() == twinsift.Signer(hashes=4).sign("one text").tolist()
    True
    """

    @property
    def slots(self) -> int:
        """The numbers of each."""
        return (memoryview(self).shape or (0, 0))[1]

    def __getitem__(self, number: int) -> memoryview:
        if not -len(self) <= number < len(self):
            raise IndexError(f"there is no signature {number}")
        begin = number % len(self) * self.slots
        return memoryview(self).cast("B").cast("I")[begin : begin + self.slots]

    def __iter__(self) -> Iterator[memoryview]:
        return (self[number] for number in range(len(self)))

    def __repr__(self) -> str:
        return f"<Signatures: {len(self)} of {self.slots} numbers>"

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[Any, Any]:
        return _core.arrow_array(None, (self,))

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        return _core.arrow_stream(None, (self,))


class Signer:
    """Makes signatures of texts, by a scheme: a line of text, or the keywords of :func:`pairs`, and `bands`, `rows`,
    `hash` (xxh3, jenkins, sip), `sketch` (fast, classic), `normal` (fold, check, bytes) and `multiset` (each occurrence of a shingle counts).

    Threads may share a signer.

    >>> import twinsift
    >>> signer = twinsift.Signer(shingle="word:3", hashes=64)
    >>> signer.scheme
    'normal=fold shingle=word:3 hash=xxh3:1 sketch=fast slots=64 seed=1 measure=jaccard threshold=0.8 bands=16 rows=4'
    >>> len(signer.sign("to be or not to be"))
    64
    """

    def __init__(self, scheme: str | None = None, **keywords: Any) -> None:
        if scheme is not None and keywords:
            raise TypeError(f"a scheme says all, so {', '.join(keywords)} cannot be given too")
        self._signer = _core.Signer(scheme_of(scheme, **keywords))

    @property
    def scheme(self) -> str:
        """The scheme, complete, as a line. It has all there is to know to make equal signatures elsewhere."""
        return self._signer.scheme

    def __repr__(self) -> str:
        return f"Signer({self.scheme!r})"

    def __reduce__(self) -> tuple[type[Signer], tuple[str]]:
        return Signer, (self.scheme,)

    def sign(self, text: str | bytes) -> memoryview:
        """The signature of one text."""
        return memoryview(self._signer.sign(text))

    def sign_many(
        self, texts: Texts, *, column: str = "text", threads: int = 0, progress: Progress = None
    ) -> Signatures:
        """The signatures of many texts, which may be anything that :func:`pairs` accepts."""
        with progress_of(progress) as call:
            return Signatures(self._signer.sign_many(texts_of(texts, column), threads_of(threads), call))

    def band_keys(self, signatures: Any) -> memoryview:
        """A 64-bit key for each band of each signature: texts with an equal key are candidates. The keys are those of
        docs/format.md, the same in every language, so a database or another engine can compare them.

        >>> signer = Signer()
        >>> signer.band_keys(signer.sign_many(["a text", "another text"])).shape
        (2, 25)
        """
        return memoryview(self._signer.band_keys(signatures))
