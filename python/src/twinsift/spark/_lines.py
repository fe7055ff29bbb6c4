"""Fields of JSON lines, by the rules of the program: a line that it skips is skipped here, too."""
from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pandas

from .._tables import without_surrogates

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class _Number(str):
    """A number as it is written."""


def _constant(name: str) -> Any:
    raise ValueError(f"{name} is no value")


def _at(record: Any, path: str) -> Any:
    """a.b is b in the object a; None if it is not there."""
    for name in path.split("."):
        record = record.get(name) if isinstance(record, dict) else None
    return record


def _has(record: Any, path: str) -> bool:
    folder, _, name = path.rpartition(".")
    holder = _at(record, folder) if folder else record
    return isinstance(holder, dict) and name in holder


def _string(value: Any) -> str:
    if not isinstance(value, str) or isinstance(value, _Number):
        raise ValueError("is not a string")
    return without_surrogates(value)


def _name(value: Any) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str):
        raise ValueError("is neither a string nor a number")
    return without_surrogates(value)


def fields(line: bytes, text: str, id: str, column: str) -> tuple[str | None, str | None, str | None]:
    """The text of a line, its id and the value of a column; without a text it is to be skipped."""
    try:
        record = json.loads(
            line.decode("utf-8", "replace"), parse_int=_Number, parse_float=_Number, parse_constant=_constant
        )
        parts = [_string(_at(record, path)) for path in text.split(",") if _has(record, path)]
        name, value = _name(_at(record, id)), _at(record, column) if column else None
    except (ValueError, RecursionError):
        return None, None, None
    if not parts or not isinstance(record, dict):
        return None, None, None
    return "\n".join(parts), name, without_surrogates(value) if isinstance(value, str) else None


def with_fields(lines: DataFrame, text: str, id: str, column: str) -> DataFrame:
    """Lines, in `value`, with columns for these fields, without those that are to be skipped."""
    from pyspark.sql import functions as F

    names = ["twinsift_text", "twinsift_id", "twinsift_column"]

    def parse(values: pandas.Series) -> pandas.DataFrame:
        rows = [fields(bytes(value), text, id, column) for value in values]
        return pandas.DataFrame(rows, columns=names, dtype=object)

    # What is said not to be deterministic is computed once, not for each of its uses.
    made = F.pandas_udf(parse, ", ".join(f"{name} string" for name in names)).asNondeterministic()
    parsed = lines.withColumn("twinsift_json", made(F.col("value").cast("binary")))
    return parsed.select("value", "twinsift_json.*").where("twinsift_text IS NOT NULL")
