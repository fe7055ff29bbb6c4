"""Documents of a DataFrame, numbered in the order that decides.

Numbers come from files: a Parquet file knows the number of each of its rows, so a document is numbered by its file and
its row there, the same in every job, task and attempt. A DataFrame that is not read from Parquet, or for which columns
say the order, is written as Parquet once.
"""
from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Union
from urllib.parse import unquote

from . import _rows
from ._stages import Stages, quiet

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

DOC = "twinsift_doc"
_FILE, _BLOCK = "twinsift_file", "twinsift_block"
#: What may stand between a scan and the reader of its rows: each row stays the row of its file that it was.
_NARROW = {"Project", "Filter", "SubqueryAlias", "View", "LogicalRelation", "Relation", "LocalLimit"}

Order = Union[str, "Column", Sequence[Union[str, "Column"]], None]


def _nodes(plan: Any) -> Iterable[str]:
    yield plan.nodeName()
    children = plan.children()
    for number in range(children.size()):
        yield from _nodes(children.apply(number))


def _is_scan(df: DataFrame) -> bool:
    try:
        plan = getattr(df, "_jdf").queryExecution().analyzed()
    except Exception:  # Spark Connect keeps its plans to itself
        return False
    return all(name.split()[0] in _NARROW for name in _nodes(plan))


def _metadata(df: DataFrame) -> list[str]:
    """What is known of the files of its rows."""
    try:
        with quiet():
            return list(getattr(df.select("_metadata").schema["_metadata"].dataType, "names"))
    except Exception:  # of several classes, by version
        return []


def column(name: str) -> Column:
    """The column of this name, which may have dots."""
    from pyspark.sql import functions as F

    return F.col("`" + name.replace("`", "``") + "`")


def _plain_path(path: Any) -> Any:
    """Of a file of the local system, which is named in two ways."""
    from pyspark.sql import functions as F

    return F.regexp_replace(path, "^file:///", "file:/")


def file_order(df: DataFrame) -> list[str]:
    """The files, by their names in byte order."""
    names = {re.sub("^file:///", "file:/", name) for name in df.inputFiles()}
    return sorted(names, key=lambda name: unquote(name).encode())


def numbered(
    df: DataFrame, text: str, order: Order, files: list[str] | None, stages: Stages, parts: int
) -> tuple[DataFrame, int]:
    """The rows of df with a column DOC, and about how many these are; `files` is the order of its files, if not that of
    their names."""
    if order is not None:
        return _number_sorted(df, text, [order] if not isinstance(order, (list, tuple)) else list(order), stages, parts)
    if not _is_scan(df) or "file_path" not in _metadata(df):
        raise ValueError(
            "order must be given, the columns that say which of similar documents comes first: df is not read directly "
            "from files, whose order would be taken"
        )
    files = file_order(df) if files is None else files
    if "row_index" in _metadata(df):
        return _number_scan(df, files, stages)
    return _number_copy(df, files, stages)


def _rank(frame: DataFrame, files: list[str]) -> DataFrame:
    """The pieces, with the number of their file."""
    from pyspark.sql import functions as F

    known = frame.sparkSession.createDataFrame([(name, rank) for rank, name in enumerate(files)], [_FILE, "rank"])
    return frame.join(F.broadcast(known), _FILE)


def _bases(pieces: DataFrame, order: list[str]) -> Any:
    """The number of the first row of each piece, when they come one after the other."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    return F.coalesce(
        F.sum("rows").over(Window.orderBy(*order).rowsBetween(Window.unboundedPreceding, -1)), F.lit(0)
    ) - F.col("first")


def _with_numbers(frame: DataFrame, pieces: DataFrame, keys: list[str]) -> tuple[DataFrame, int]:
    from pyspark.sql import functions as F

    rows = int(pieces.agg(F.sum("rows")).collect()[0][0] or 0)
    joined = frame.join(F.broadcast(pieces.select(*keys, "base")), keys)
    number = F.col("base") + F.col("twinsift_row")
    return joined.withColumn(DOC, number).drop("base", "twinsift_row", *keys), rows


def _number_scan(df: DataFrame, files: list[str], stages: Stages) -> tuple[DataFrame, int]:
    """Rows of Parquet files, as they are."""
    from pyspark.sql import functions as F

    where = [_plain_path(F.col("_metadata.file_path")).alias(_FILE), F.col("_metadata.row_index").alias("twinsift_row")]

    def pieces() -> DataFrame:
        rows = df.select(*where).groupBy(_FILE).agg((F.max("twinsift_row") + 1).alias("rows"), F.lit(0).alias("first"))
        ranked = _rank(rows, files)
        return ranked.select(_FILE, "rows", _bases(ranked, ["rank"]).alias("base"))

    return _with_numbers(df.select("*", *where), stages.write("pieces", pieces), [_FILE])


def _number_copy(df: DataFrame, files: list[str], stages: Stages) -> tuple[DataFrame, int]:
    """Rows of other files, which are written as Parquet. One task reads a block of a file, in its order."""
    from pyspark.sql import functions as F

    copy = stages.write("documents", lambda: df.select(
        "*", _plain_path(F.col("_metadata.file_path")).alias(_FILE), F.col("_metadata.file_block_start").alias(_BLOCK)
    ))
    index = F.col("_metadata.row_index").alias("twinsift_row")

    def pieces() -> DataFrame:
        rows = copy.select(_FILE, _BLOCK, index).groupBy(_FILE, _BLOCK)
        ranked = _rank(rows.agg(F.count("*").alias("rows"), F.min("twinsift_row").alias("first")), files)
        return ranked.select(_FILE, _BLOCK, "rows", _bases(ranked, ["rank", _BLOCK]).alias("base"))

    return _with_numbers(copy.select("*", index), stages.write("pieces", pieces), [_FILE, _BLOCK])


def _number_sorted(
    df: DataFrame, text: str, order: list[Any], stages: Stages, parts: int
) -> tuple[DataFrame, int]:
    """Rows of any kind, sorted and written as Parquet, whose files are numbered by their part."""
    from pyspark.sql import functions as F

    def documents() -> DataFrame:
        tie = F.xxhash64(column(text))
        return df.repartitionByRange(parts, *order).sortWithinPartitions(*order, tie)

    copy = stages.write("documents", documents)
    return _number_scan(copy, file_order(copy), stages)


# ---- some of the documents


def marked(frame: DataFrame, bitmaps: DataFrame, keep: bool) -> DataFrame:
    """The documents that are in the bitmaps, or those that are not. Bitmaps are small enough to be everywhere, an eighth
    of a byte per document, so that no text is moved."""
    from pyspark.sql import functions as F

    inside = (1 << _rows.CHUNK_BITS) - 1
    bits = bitmaps.withColumnRenamed("chunk", "twinsift_chunk").withColumnRenamed("bits", "twinsift_bits")
    joined = frame.withColumn("twinsift_chunk", F.shiftright(DOC, _rows.CHUNK_BITS)).join(
        F.broadcast(bits), "twinsift_chunk", "inner" if keep else "left"
    )
    bit = F.expr(
        f"shiftright(twinsift_bits[cast(shiftright({DOC} & {inside}, 6) AS int)], cast({DOC} & 63 AS int)) & 1"
    )
    chosen = bit == 1 if keep else (F.col("twinsift_bits").isNull() | (bit == 0))
    return joined.where(chosen).drop("twinsift_chunk", "twinsift_bits")


def bitmaps_of(docs: DataFrame, parts: int) -> DataFrame:
    """A column `doc` as bitmaps."""
    from pyspark.sql import functions as F

    return docs.repartition(parts, F.shiftright("doc", _rows.CHUNK_BITS)).select("doc").mapInArrow(
        _rows.bitmap, "chunk bigint, bits array<bigint>"
    )
