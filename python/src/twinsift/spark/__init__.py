"""Near-duplicates of DataFrames of Apache Spark, with the answers that twinsift gives on one machine.

Spark finds which documents may belong together; the C library, in its workers, decides among these. Similar documents
are found and verified as :func:`twinsift.dedup` does it, whatever the number of partitions and executors. See
docs/spark.md.

>>> from pyspark.sql import SparkSession
>>> import twinsift.spark
>>> spark = SparkSession.builder.getOrCreate()
>>> df = spark.createDataFrame([(1, "A recipe for plum cake"), (2, "Bread"), (3, "a recipe for plum cake")], ["id", "text"])
>>> result = twinsift.spark.dedup(df, id="id", order="id")
>>> sorted(row.id for row in result.kept.collect())
[1, 2]
>>> result.dropped.collect()
[Row(id=3, keeper=1, similarity=1.0)]
"""
from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .. import _core
from .._options import choice, scheme_of, texts_of

try:
    import numpy as _numpy
    import pyarrow
    import pyspark as _pyspark
except ImportError as error:
    raise ImportError(f"twinsift.spark needs PySpark with Arrow: pip install 'twinsift[spark]' ({error})") from error

from . import _rows
from ._documents import Order, column
from ._job import Job, check_columns, check_text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["Deduplicated", "dedup", "pairs", "query", "sign"]


def _bytes_of(size: int | str) -> int:
    """A number, or one such as "1g"."""
    if isinstance(size, int) and size >= 0:
        return size
    match = re.fullmatch(r"(\d+)\s*([kmgt]?)b?", str(size).strip().lower())
    if not match:
        raise ValueError(f'group_bytes must be a number of bytes, such as 1000000 or "1g", not {size!r}')
    return int(match[1]) << 10 * " kmgt".index(match[2] or " ")


#: What the values of a column are compared as, by its type.
_RANKED = {
    "bigint": ("byte", "short", "integer", "long"), "double": ("float", "double", "decimal"),
    "string": ("string", "varchar", "char", "date", "timestamp", "timestamp_ntz"),
}


def _rank(df: DataFrame, text: str, keep: str) -> tuple[str, bool, Any]:
    """Which rule that is, whether the largest is preferred, and of what."""
    from pyspark.sql import functions as F

    field, _, which = keep.rpartition(":") if isinstance(keep, str) else ("", "", "")
    if not field:
        choice("keep", keep, ("first", "last", "longest", "shortest"))
        if keep in ("first", "last"):
            return keep, False, None
        return "rank", keep == "longest", F.coalesce(F.octet_length(column(text)), F.lit(0)).cast("bigint")
    if which not in ("max", "min"):
        raise ValueError(f"keep must be first, last, longest, shortest, COLUMN:max or COLUMN:min, not {keep!r}")
    check_columns(df, field)
    kind = df.schema[field].dataType.typeName()
    to = next((to for to, kinds in _RANKED.items() if kind in kinds), None)
    if to is None:
        raise ValueError(f"keep={keep!r}: the column has values of type {kind}, not numbers, strings or times")
    return "rank", which == "max", column(field).cast(to)


class Deduplicated:
    """What :func:`dedup` returns: `kept` and `dropped`, which are DataFrames, and `report`, a dictionary. The DataFrames
    read the stages of the run; without `stage` these are there until the session ends."""

    def __init__(self, job: Job) -> None:
        self._job = job
        #: The rows of df that are kept, with all columns.
        self.kept: DataFrame = job.kept()
        #: id (the number of the row, if there are no ids), keeper, and similarity of those that are dropped.
        self.dropped: DataFrame = job.named(("id", "keeper"))
        #: Counts, the largest group, large buckets; seconds and bytes by stage.
        self.report: Mapping[str, Any] = job.count_dropped()

    def __repr__(self) -> str:
        return f"<Deduplicated: {self.report['kept']:,} of {self.report['documents']:,} documents kept>"


def _scheme(threshold: float, shingle: str, hashes: int, seed: int, scheme: dict[str, Any]) -> str:
    line = scheme_of(threshold=threshold, shingle=shingle, hashes=hashes, seed=seed, **scheme)
    complete = _core.Signer(line).scheme
    if "measure=jaccard" not in complete.split():
        raise ValueError("measure must be jaccard: bands find pairs by their Jaccard similarity only")
    return complete


def dedup(
    df: DataFrame,
    *,
    text: str = "text",
    id: str | None = None,
    order: Order = None,
    keep: str = "first",
    chain: bool = False,
    threshold: float = 0.8,
    shingle: str = "auto:9",
    hashes: int = 128,
    seed: int = 1,
    stage: str | None = None,
    partitions: int | None = None,
    group_bytes: int | str = "1g",
    files: list[str] | None = None,
    **scheme: Any,
) -> Deduplicated:
    """Which rows of `df` are kept when near-duplicates are dropped: those that :func:`twinsift.dedup` keeps.

    `order` names the columns that say which document comes first, of which the first is kept; without it, documents are in
    the order of files, by name or as in `files`, and of rows in them. `keep` may be "last", "longest", "shortest",
    "COLUMN:max" or "COLUMN:min". NULL is an empty text, and kept. Rows may have the same `id`, which `dropped` names.

    `stage` is a folder that all executors see, for what the stages of the run write; a run that was killed goes on
    there. It may be left out in local mode. `partitions` are those of shuffles. A group of documents with more than
    `group_bytes` of text is searched on the local disk of its executor.
    """
    kind, largest, rank = _rank(df, text, keep)
    rule = _rows.Rule(
        _scheme(threshold, shingle, hashes, seed, scheme), kind, largest, bool(chain), _bytes_of(group_bytes)
    )
    return Deduplicated(Job(
        df, rule, text=text, id=id, rank=rank, order=order, stage=stage, partitions=partitions, files=files, pairs=False
    ))


def pairs(
    df: DataFrame,
    *,
    text: str = "text",
    id: str | None = None,
    order: Order = None,
    threshold: float = 0.8,
    shingle: str = "auto:9",
    hashes: int = 128,
    seed: int = 1,
    stage: str | None = None,
    partitions: int | None = None,
    group_bytes: int | str = "1g",
    files: list[str] | None = None,
    **scheme: Any,
) -> DataFrame:
    """The similar pairs, verified, in columns a, b and similarity: those of :func:`twinsift.pairs`, in any order. a and b
    are ids, or numbers of rows; of rows with the same id only the first is taken. Of texts with equal sets each is listed
    with the first of its kind.

    The rows are in files of the stage, or without `stage` in temporary ones until the session ends.
    """
    rule = _rows.Rule(_scheme(threshold, shingle, hashes, seed, scheme), "first", group_bytes=_bytes_of(group_bytes))
    job = Job(
        df, rule, text=text, id=id, rank=None, order=order, stage=stage, partitions=partitions, files=files, pairs=True
    )
    return job.named(("a", "b"))


def _schema(df: DataFrame, more: str) -> Any:
    """That of df with more columns."""
    from pyspark.sql.types import StructType

    return StructType([*df.schema.fields, *StructType.fromDDL(more).fields])


class _Signed:
    """Makes columns of signatures and of band keys."""

    def __init__(self, scheme: str) -> None:
        self.scheme = scheme

    def __call__(self, texts: Any) -> dict[str, Any]:
        signer = _core.Signer(self.scheme)
        signatures = signer.sign_many(texts_of(texts), 1, None)
        keys = _numpy.asarray(signer.band_keys(signatures)).view(_numpy.int64)
        width = memoryview(signatures).shape[1] * 4  # type: ignore[index]
        whole = pyarrow.py_buffer(memoryview(signatures).cast("B"))
        fixed = pyarrow.Array.from_buffers(pyarrow.binary(width), len(texts), [None, whole])
        lists = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(keys.reshape(-1)), keys.shape[1])
        return {"signature": fixed.cast(pyarrow.binary()), "keys": lists.cast(pyarrow.list_(pyarrow.int64()))}


def sign(
    df: DataFrame, *, text: str = "text", threshold: float = 0.8, shingle: str = "auto:9", hashes: int = 128, seed: int = 1,
    **scheme: Any,
) -> DataFrame:
    """df with two more columns: `signature`, binary, 32-bit numbers in the order of bytes of x86; and `keys`, one for each
    band, as signed numbers: documents that share one are candidates."""
    check_text(df, text)
    line = _scheme(threshold, shingle, hashes, seed, scheme)
    schema = _schema(df, "signature binary, keys array<bigint>")
    return df.mapInArrow(_rows.Appending(text, _Signed(line)), schema)


class _Query:
    """Makes a column of the matches in an index, which each worker opens once."""

    def __init__(self, path: str, threshold: float | None, top: int) -> None:
        self.path, self.threshold, self.top = path, threshold, top
        self._index: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_index": None}

    def __call__(self, texts: Any) -> dict[str, Any]:
        from .. import Index

        if self._index is None:
            self._index = Index(self.path)
        answers = self._index.query_many(texts, threshold=self.threshold, top=self.top, threads=1)
        kind = pyarrow.list_(pyarrow.struct([("id", pyarrow.string()), ("similarity", pyarrow.float64())]))
        rows = [[{"id": str(one.id), "similarity": one.similarity} for one in answer] for answer in answers]
        return {"matches": pyarrow.array(rows, kind)}


def query(
    df: DataFrame, index_path: str, *, text: str = "text", threshold: float | None = None, top: int = 10
) -> DataFrame:
    """df with one more column, `matches`: for each row the documents of an index that are similar to its text, the most
    similar first. The index is a file that every executor can open."""
    check_text(df, text)
    schema = _schema(df, "matches array<struct<id: string, similarity: double>>")
    return df.mapInArrow(_rows.Appending(text, _Query(index_path, threshold, top)), schema)


del _pyspark
