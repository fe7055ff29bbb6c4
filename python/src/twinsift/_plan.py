"""Bands, rows and slots from the error that is accepted."""
from __future__ import annotations

from typing import NamedTuple

from . import _core
from ._options import real, whole


class Plan(NamedTuple):
    """Signatures of `slots` numbers are cut into `bands` of `rows`."""

    bands: int
    rows: int

    @property
    def slots(self) -> int:
        """The numbers of a signature that are used."""
        return self.bands * self.rows

    def probability(self, similarity: float) -> float:
        """The probability that two texts of this similarity share a band, 1 - (1 - s**rows)**bands."""
        if not 0 <= real("similarity", similarity) <= 1:
            raise ValueError(f"similarity must be 0 to 1, not {similarity}")
        return _core.plan_probability(self.bands, self.rows, float(similarity))


def _point(name: str, value: tuple[float, float]) -> tuple[float, float]:
    try:
        similarity, probability = value
    except (TypeError, ValueError) as error:
        raise type(error)(f"{name} must be a similarity and a probability, not {value!r}") from None
    return real(name, similarity), real(name, probability)


def plan(
    *,
    threshold: float | None = None,
    slots: int | None = None,
    accept: tuple[float, float] | None = None,
    reject: tuple[float, float] | None = None,
    recall: float = 0.999,
) -> Plan:
    """The best plan: for a threshold, with the most rows that still find a pair there with probability `recall` in
    `slots` slots (128); or with the fewest slots for two points (similarity, probability), such as
    ``accept=(0.9, 0.99), reject=(0.6, 0.01)``.

    >>> import twinsift
    >>> best = twinsift.plan(threshold=0.8)
    >>> best, best.slots, round(best.probability(0.8), 4)
    (Plan(bands=25, rows=5), 125, 1.0)
    >>> twinsift.plan(accept=(0.9, 0.99), reject=(0.6, 0.01))
    Plan(bands=20, rows=15)
    """
    if (accept is None) != (reject is None):
        raise ValueError("accept and reject must be given together")
    if accept is not None and reject is not None:
        if threshold is not None:
            raise ValueError("threshold cannot be given with accept and reject")
        return Plan(*_core.plan(
            *_point("reject", reject), *_point("accept", accept), 65536 if slots is None else whole("slots", slots, 1)
        ))
    if threshold is None:
        raise ValueError("threshold must be given, or accept and reject")
    return Plan(*_core.plan_slots(
        real("threshold", threshold), real("recall", recall), 128 if slots is None else whole("slots", slots, 1)
    ))
