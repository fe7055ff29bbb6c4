"""The mail filter."""
from __future__ import annotations

import os
import time
from typing import NamedTuple

from . import _core
from ._options import choice, whole


class Evidence(NamedTuple):
    """What a label has for it, in log odds, positive for the label."""

    label: str
    messages: int  #: learnt under it and remembered
    content: float
    sender: float
    lookalike: float
    score: float  #: all together
    nearest: float  #: the similarity of the nearest message that was learnt under it


class Verdict(NamedTuple):
    """What a message is taken for."""

    label: str | None  #: None: unsure
    score: float  #: the probability of the label with the most evidence (spam, of spam and good mail), 0 to 1
    reason: str  #: the evidence that counted most: nothing, content, sender or lookalike
    log_odds: float
    threshold: float  #: the log odds above which the label is given
    evidence: list[Evidence]


class Word(NamedTuple):
    """A word, header or link of a message, and what it adds to the score of a label."""

    kind: str
    word: str
    weight: float


class MailFilter:
    """A mail filter that learns, in a file that `twinsift mail` uses as well.

    `mode` is "r" to check, or "w" to learn too; :meth:`create` makes a new one. What is learnt takes effect at once, and
    is in the file after :meth:`commit`, or at the end of a `with` block that raises nothing. Threads may share a filter;
    they take turns. Reading mail needs GMime, which no wheel can carry: in wheels this class raises UnsupportedError.
    Install twinsift from its source, with libgmime-3.0-dev and libpsl-dev, to have it.
    """

    def __init__(self, path: str | os.PathLike[str], mode: str = "r") -> None:
        self._path, self._mode = os.fspath(path), mode
        write = bool(choice("mode", mode, ("r", "w")))
        try:
            self._mail = _core.Mail(path, write)
        except _core.UnsupportedError as error:
            raise _advice(error) from None

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        *,
        keep_messages: int = 0,
        keep_days: int = 0,
        texts: bool = True,
        replace: bool = False,
    ) -> MailFilter:
        """Creates an empty filter and opens it for learning. It remembers 100,000 messages unless told otherwise, for as
        many days as given, with the beginnings of their `texts` for explanations."""
        try:
            _core.mail_create(
                path, whole("keep_messages", keep_messages), whole("keep_days", keep_days), texts, replace
            )
        except _core.UnsupportedError as error:
            raise _advice(error) from None
        return cls(path, "w")

    def close(self) -> None:
        """Closes the file. What was not committed is lost."""
        self._mail.close()

    def __enter__(self) -> MailFilter:
        return self

    def __exit__(self, kind: object, *details: object) -> None:
        if kind is None and self._mode == "w":
            self.commit()
        self.close()

    def __repr__(self) -> str:
        return f"MailFilter({self._path!r}, {self._mode!r})"

    def check(self, raw: bytes) -> Verdict:
        """The verdict on a message, given as it was received."""
        verdict = Verdict._make(self._mail.check(raw))
        return verdict._replace(evidence=[Evidence(*one) for one in verdict.evidence])

    def explain(self, raw: bytes, label: str = "spam", *, top: int = 10) -> list[Word]:
        """The words that count most for or against a label, the strongest first."""
        return [Word._make(word) for word in self._mail.explain(raw, _label(label), whole("top", top))]

    def learn(self, raw: bytes, label: str) -> str:
        """Learns that a message has a label: "learnt", "known" or "corrected". "spam" and "ham" are the labels that mean
        something; any others work."""
        return self._mail.learn(raw, _label(label), int(time.time()))

    def correct(self, raw: bytes, label: str) -> str:
        """Learns a message that was judged wrongly, as often as is needed."""
        return self._mail.correct(raw, _label(label), int(time.time()))

    def forget(self, raw: bytes) -> str:
        """Forgets a message: "forgotten" or "unknown"."""
        return self._mail.forget(raw, "", 0)

    def commit(self) -> None:
        """Writes what was learnt to the file, all or nothing."""
        self._mail.commit()


def _label(label: str) -> str:
    if not isinstance(label, str):
        raise TypeError(f"label must be str, not {type(label).__name__}")
    return label


def _advice(error: Exception) -> Exception:
    return _core.UnsupportedError(
        f"{error}: a wheel cannot carry GMime; with libgmime-3.0-dev and libpsl-dev installed, "
        "pip install --no-binary twinsift twinsift builds it with mail"
    )
