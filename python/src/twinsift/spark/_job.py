"""The stages of deduplication: what each reads, moves and writes. docs/spark.md draws them."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _core
from .._options import whole
from . import _rows
from ._documents import DOC, Order, bitmaps_of, column, marked, numbered
from ._stages import Stages, settings, statistics

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_DOCUMENTS_PER_PART = 40_000  # times 2 KB of rows in buckets, which a task sorts in memory
_GREATEST = ("largest_bucket", "largest_group")
#: What tasks count; a stage of nothing has none of them.
_COUNTS = ("documents", "text_bytes", "empty", "large_buckets", "largest_bucket", "involved", "joined_groups", "largest_group")


def check_columns(df: DataFrame, *names: str) -> None:
    """Whether df has these columns."""
    for name in names:
        if name not in df.columns:
            raise ValueError(f'df has no column "{name}"; it has: {", ".join(df.columns)}')


def check_text(df: DataFrame, name: str) -> None:
    """Whether df has this column, and its values are texts."""
    check_columns(df, name)
    kind = df.schema[name].dataType.typeName()
    if kind not in ("string", "varchar", "char", "binary", "void"):
        raise ValueError(f'the column "{name}" has values of type {kind}, not texts')


def part_count(df: DataFrame) -> int:
    """Partitions of shuffles, if none are given and the number of documents is not known."""
    return int(df.sparkSession.conf.get("spark.sql.shuffle.partitions", "200") or 200)


def _salts(df: DataFrame, parts: int) -> list[int]:
    """For each partition a number that Spark's hash puts there."""
    found: dict[int, int] = {}
    width = 16 * parts + 256
    while len(found) < parts:
        numbers = df.sparkSession.range(width).selectExpr("cast(id AS int) AS salt", f"pmod(hash(cast(id AS int)), {parts})")
        for salt, part in numbers.collect():
            found.setdefault(part, salt)
        width *= 2
    return [found[part] for part in range(parts)]


def _select(frame: DataFrame, *columns: str) -> DataFrame:
    """Rows of a stage that are not statistics."""
    return frame.where(f"{columns[0]} IS NOT NULL").select(*columns)


class Job:
    """One run over df."""

    def __init__(
        self, df: DataFrame, rule: _rows.Rule, *, text: str, id: str | None, rank: Any, order: Order,
        stage: str | None, partitions: int | None, files: list[str] | None, pairs: bool,
    ) -> None:
        if partitions is not None:
            whole("partitions", partitions, 1)
        check_text(df, text)
        if id is not None:
            check_columns(df, id)
        self.df, self.rule, self.text, self.id, self.rank, self.pairs = df, rule, text, id, rank, pairs
        self.report: dict[str, Any] = {**dict.fromkeys(_COUNTS, 0), "large_groups": [], "bytes": {}}
        options = {"rule": rule._asdict(), "text": text, "id": id, "order": repr(order), "columns": df.columns,
                   "rank": repr(rank), "pairs": pairs}
        self.stages = Stages(df.sparkSession, stage, options)
        with settings(df.sparkSession):
            documents, rows = numbered(df, text, order, files, self.stages, partitions or part_count(df))
            self.parts = partitions or max(2, -(-rows // _DOCUMENTS_PER_PART))
            self.documents = self._without_repeated(documents) if pairs else documents
            self._run()
        self.report["seconds"] = self.stages.seconds

    def _run(self) -> None:
        signer = _core.Signer(self.rule.scheme)
        _, keys, sketches, _ = _core.shard_sign(signer, _core.Texts([""]))
        bands, sketch = memoryview(keys).shape[1], memoryview(sketches).shape[1]  # type: ignore[index]
        salts = _salts(self.df, self.parts)
        signed = self.stages.write("signed", lambda: self._read(self.documents).mapInArrow(
            _rows.Signing(self.rule, salts), _ddl(_rows.SIGNED)
        ))
        self._note("signed", signed)
        joined = self.stages.write("edges", lambda: self._join(signed, bands, sketch, salts))
        self._note("edges", joined)
        edges = _select(joined, "a", "b", "kind")
        groups = self.stages.write("groups", lambda: edges.where(f"kind = {_rows.EDGES}").select("a", "b").coalesce(
            1
        ).mapInArrow(_rows.unite, _ddl(_rows.GROUPS)))
        self._note("groups", groups)
        decided = self.stages.write("decided", lambda: self._decide(_select(groups, "doc", "group")))
        self._note("decided", decided)
        copies = edges.where(f"kind = {_rows.COPIES}").selectExpr("a AS doc", "b AS first")
        found = _select(decided, "doc", "other", "similarity")
        self.found = self.stages.write("found", lambda: (_pairs if self.pairs else _dropped)(found, copies))

    def _join(self, signed: DataFrame, bands: int, sketch: int, salts: list[int]) -> DataFrame:
        banded = _select(signed, "part", "rows").repartition(len(salts), "part").mapInArrow(
            _rows.Banding(self.rule, bands, sketch, salts), _ddl(_rows.BANDED)
        )
        rows = banded.repartition(len(salts), "part")
        return rows.mapInArrow(_rows.Joining(self.rule, sketch), _ddl(_rows.FOREST))

    def _read(self, documents: DataFrame) -> DataFrame:
        """doc and text, and what a rule needs beside these."""
        from pyspark.sql import functions as F

        columns = [F.col(DOC).alias("doc"), column(self.text).alias("text")]
        if self.rule.keep == "rank":
            columns += [self.rank.alias("rank"), column(self.id or DOC).cast("string").alias("id")]
        return documents.select(*columns)

    def _decide(self, groups: DataFrame) -> DataFrame:
        bitmaps = self.stages.write("involved", lambda: bitmaps_of(groups, self.parts))
        rows = self._read(marked(self.documents, bitmaps, True)).join(groups, "doc")
        return rows.repartition(self.parts, "group").sortWithinPartitions("group", "doc").mapInArrow(
            _rows.Deciding(self.rule, self.pairs), _ddl(_rows.DECIDED)
        )

    def _note(self, stage: str, frame: DataFrame) -> None:
        """Adds what the tasks of a stage have said to the report."""
        for one in statistics(frame):
            moved = one.pop("moved", 0)
            if moved:
                self.report["bytes"][stage] = self.report["bytes"].get(stage, 0) + moved
            if "group" in one:
                self.report["large_groups"].append(one)
                continue
            for name, value in one.items():
                before = self.report.get(name, 0)
                self.report[name] = max(before, value) if name in _GREATEST else before + value

    def _without_repeated(self, documents: DataFrame) -> DataFrame:
        """Of documents with the same id the first; pairs of the others would be of nobody knows which, so that the
        program, too, leaves them out there."""
        from pyspark.sql import functions as F

        self.report["repeated_ids"] = 0
        if self.id is None:
            return documents
        ids = documents.select(F.col(DOC).alias("doc"), column(self.id).cast("string").alias("id")).where("id IS NOT NULL")
        many = ids.groupBy("id").agg(F.min("doc").alias("first"), F.count("*").alias("count")).where("count > 1")
        repeated = self.stages.write("repeated", lambda: ids.join(many, "id").where("doc != first").select("doc"))
        self.report["repeated_ids"] = repeated.count()
        if self.report["repeated_ids"] == 0:
            return documents
        return marked(documents, self.stages.write("repeated_bits", lambda: bitmaps_of(repeated, self.parts)), False)

    # ---- results

    def named(self, columns: tuple[str, str]) -> DataFrame:
        """What was found, with ids in place of numbers, if there are ids."""
        from pyspark.sql import functions as F

        found = self.found.withColumnsRenamed({"doc": columns[0], "other": columns[1]})
        if self.id is None:
            return found
        for name in columns:
            ids = self.documents.select(F.col(DOC).alias(name), column(self.id).alias("twinsift_id"))
            found = found.join(ids, name).drop(name).withColumnRenamed("twinsift_id", name)
        return found.select(*columns, "similarity")

    def count_dropped(self) -> dict[str, Any]:
        """The report of deduplication."""
        from pyspark.sql import functions as F

        exact = F.sum(F.when(F.col("similarity") == 1.0, 1).otherwise(0))
        groups = F.countDistinct("other").alias("groups")
        counts = self.found.agg(F.count("*").alias("dropped"), exact.alias("exact"), groups)
        dropped, exact_copies, with_dropped = counts.collect()[0]
        return {**self.report, "kept": self.report["documents"] - dropped, "exact_copies": exact_copies or 0,
                "near_copies": dropped - (exact_copies or 0), "groups": with_dropped}

    def kept(self) -> DataFrame:
        """The rows of df that are not dropped."""
        with settings(self.df.sparkSession):
            dropped = self.stages.write("dropped_bits", lambda: bitmaps_of(self.found.select("doc"), self.parts))
        return marked(self.documents, dropped, False).select(*map(column, self.df.columns))


def _ddl(schema: Any) -> str:
    names = {"int8": "tinyint", "int32": "int", "int64": "bigint"}
    return ", ".join(f"`{field.name}` {names.get(str(field.type), field.type)}" for field in schema)


def _dropped(found: DataFrame, copies: DataFrame) -> DataFrame:
    """Copies go where their first goes."""
    from pyspark.sql import functions as F

    follow = copies.join(found.withColumnRenamed("doc", "first"), "first", "left").select(
        "doc", F.coalesce("other", "first").alias("other"), F.coalesce("similarity", F.lit(1.0)).alias("similarity")
    )
    return found.unionByName(follow)


def _pairs(found: DataFrame, copies: DataFrame) -> DataFrame:
    """Each copy with the first of its kind, which may have another text, but an equal set."""
    from pyspark.sql import functions as F

    equal = found.where("similarity = 1.0").select(F.col("doc").alias("kind"), F.col("other").alias("first"))
    follow = copies.join(equal, "first", "left").select(
        F.coalesce("kind", "first").alias("doc"), F.col("doc").alias("other"), F.lit(1.0).alias("similarity")
    )
    return found.unionByName(follow)
