"""What the arguments of many functions mean: texts, schemes, threads, progress."""
from __future__ import annotations

import importlib
import multiprocessing
import operator
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Union

from . import _core

#: Called with the name of a stage, the unit of what follows (or None), how much is done, and how much there is (0: not
#: known), about twenty times a second; True: a bar of tqdm if that is installed.
Progress = Union[Callable[[str, Union[str, None], int, int], object], bool, None]


def texts_of(texts: object, column: str = "text", what: str = "text") -> _core.Texts:
    """Texts that are ready to be read without the GIL."""
    if not isinstance(column, str):
        raise TypeError(f"column must be str, not {type(column).__name__}")
    if isinstance(texts, _core.Texts):
        return texts
    if isinstance(texts, Mapping) or _is_frame(texts):
        try:
            texts = texts[column]  # type: ignore[index]
        except KeyError:
            names = ", ".join(map(str, texts.keys()))  # type: ignore[attr-defined]
            raise ValueError(f'the table has no column "{column}"; it has: {names}') from None
    elif _has_rows(texts):
        texts = (_value_of(row, column) for row in texts)  # type: ignore[attr-defined]
    return _core.Texts(texts, column, what)


def _is_frame(texts: object) -> bool:
    """Whether it is a frame of pandas: iterating one gives the names of its columns."""
    return type(texts).__name__ == "DataFrame" and hasattr(texts, "iloc")


def _has_rows(texts: object) -> bool:
    """Whether it is a list or data set of dictionaries, as those of Hugging Face are."""
    if isinstance(texts, (str, bytes)) or hasattr(texts, "__arrow_c_stream__") or hasattr(texts, "__arrow_c_array__"):
        return False
    try:
        return isinstance(texts[0], Mapping)  # type: ignore[index]
    except (TypeError, KeyError, IndexError, AttributeError):
        return False


def _value_of(row: Mapping[str, Any], column: str) -> Any:
    try:
        return row[column]
    except KeyError:
        raise ValueError(f'a row has no column "{column}"; it has: {", ".join(map(str, row))}') from None


MEASURES = ("jaccard", "containment", "edit")


def scheme_of(
    scheme: str | None = None,
    *,
    threshold: float = 0.8,
    measure: str = "jaccard",
    shingle: str = "auto:9",
    hashes: int = 128,
    seed: int = 1,
    bands: int | None = None,
    rows: int | None = None,
    hash: str = "xxh3",
    sketch: str = "fast",
    normal: str = "fold",
    multiset: bool = False,
    **unknown: Any,
) -> str:
    """The line that describes how texts are signed; see docs/format.md for its form."""
    if unknown:
        raise TypeError(f"{next(iter(unknown))} is not a keyword of this function")
    if scheme is not None:
        return scheme
    words = {"shingle": shingle, "measure": measure, "hash": hash, "sketch": sketch, "normal": normal}
    for name, value in words.items():
        if not isinstance(value, str):
            raise TypeError(f"{name} must be str, not {type(value).__name__}")
        if not value.isprintable():
            raise ValueError(f"{name} cannot be {value!r}")
    return _core.scheme(
        shingle, measure, hash, sketch, normal, real("threshold", threshold), whole("hashes", hashes, 1),
        whole("bands", bands or 0), whole("rows", rows or 0), whole("seed", seed, 0, 2**64 - 1), bool(multiset),
    )


def whole(name: str, value: Any, least: int = 0, most: int = sys.maxsize) -> int:
    """A whole number within limits."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be int, not {type(value).__name__}") from None
    if not least <= number <= most:
        raise ValueError(f"{name} must be {least} to {most}, not {number}" if number > most else
                         f"{name} must be at least {least}, not {number}")
    return number


def real(name: str, value: Any) -> float:
    """A number."""
    if not hasattr(value, "__float__"):
        raise TypeError(f"{name} must be float, not {type(value).__name__}")
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"{name} must be a number of usual size, not one of so many digits") from None


_NUMBER = re.compile(r"\s*[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?", re.IGNORECASE | re.ASCII)


def number_of(words: str) -> int | float | None:
    """The number that a string is, by the rules of --keep FIELD:max."""
    if not _NUMBER.fullmatch(words):
        return None
    try:
        return int(words)
    except ValueError:
        return float(words)


def choice(name: str, value: str, choices: tuple[str, ...]) -> int:
    """The number of a value among its choices."""
    if not isinstance(value, str):
        raise TypeError(f"{name} must be str, not {type(value).__name__}")
    if value not in choices:
        raise ValueError(f"{name} must be {', '.join(choices[:-1])} or {choices[-1]}, not {value!r}")
    return choices.index(value)


def threads_of(threads: int) -> int:
    """Workers for a number of threads; 0 is one per processor, but one alone where a scheduler has already given each
    processor a process: in workers of Spark, Ray, joblib, Dask and multiprocessing."""
    number = whole("threads", threads, 0, 1024)
    return 1 if number == 0 and _is_worker() else number


def _is_worker() -> bool:
    if multiprocessing.parent_process() is not None or "pyspark.worker" in sys.modules:
        return True
    main = getattr(sys.modules.get("__main__"), "__file__", None) or ""
    return main.replace("\\", "/").endswith(("pyspark/daemon.py", "ray/_private/workers/default_worker.py"))


class _Bar:
    """A bar of tqdm, which follows the stages."""

    def __init__(self, tqdm: Any) -> None:
        self._tqdm, self._stage = tqdm, ""
        self._bar: Any = None

    def __call__(self, stage: str, unit: str | None, done: int, total: int) -> None:
        if stage != self._stage:
            self.close()
            self._bar = self._tqdm(desc=stage, unit=unit or "step", total=total or None, unit_scale=True)
            self._stage = stage
        self._bar.total = total or None
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()


class progress_of:
    """As a context: the function to call for what `progress` asks for, or None."""

    def __init__(self, progress: Progress) -> None:
        self._call: Any = progress
        if progress is False:
            self._call = None
        elif progress is True:
            try:
                self._call = _Bar(importlib.import_module("tqdm.auto").tqdm)
            except ImportError:
                self._call = None
        elif progress is not None and not callable(progress):
            raise TypeError(f"progress must be callable, True or None, not {type(progress).__name__}")

    def __enter__(self) -> Any:
        return self._call

    def __exit__(self, *details: object) -> None:
        if isinstance(self._call, _Bar):
            self._call.close()


Texts = Union[Iterable[Union[str, bytes, None]], Any]
