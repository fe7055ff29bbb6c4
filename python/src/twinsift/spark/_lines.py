"""Fields of JSON lines, by the rules of the program: a line that it skips is skipped here, too."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas

from .._tables import at, record_of, text_of, without_surrogates

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def _name(value: Any) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str):
        raise ValueError("is neither a string nor a number")
    return without_surrogates(value)


def fields(line: bytes, text: str, id: str, column: str) -> tuple[str | None, str | None, str | None]:
    """The text of a line, its id and the value of a column; without a text it is to be skipped."""
    try:
        record = record_of(line)
        words, name, value = text_of(record, text), _name(at(record, id)), at(record, column) if column else None
    except (ValueError, RecursionError):
        return None, None, None
    return words, name, without_surrogates(value) if isinstance(value, str) else None


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
