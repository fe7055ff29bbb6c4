"""Stages of a job, each written once as Parquet: a task that is lost is repeated alone, and a job that is killed goes on
behind the last stage that was finished."""
from __future__ import annotations

import contextlib
import json
import logging
import shutil
import tempfile
import time
import weakref
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: Settings under which the stages run; those of the session come back afterwards.
_SETTINGS = {
    "spark.sql.parquet.compression.codec": "snappy",
    "spark.sql.adaptive.enabled": "true",
    # Before Spark 4.1 nothing else bounds a batch, of which a column must not take more than 2 GiB.
    "spark.sql.execution.arrow.maxRecordsPerBatch": "4000",
}


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """While it lasts, PySpark does not log, with all its callers, that what is asked for is not there."""
    logger = logging.getLogger("DataFrameQueryContextLogger")
    earlier, logger.disabled = logger.disabled, True
    try:
        yield
    finally:
        logger.disabled = earlier


class Stages:
    """A folder that all executors see. Without one, a temporary folder of this machine, in local mode only, which
    is there as long as the session."""

    def __init__(self, spark: SparkSession, folder: str | None, options: dict[str, Any]) -> None:
        self.spark, self.seconds = spark, {}  # type: tuple[SparkSession, dict[str, float]]
        self._lasts = folder is not None
        if folder is None:
            folder = self._temporary()
        self.folder = folder.rstrip("/")
        if self._lasts:
            self._check(json.dumps(options, sort_keys=True))

    def _temporary(self) -> str:
        master = self.spark.conf.get("spark.master", "")
        if not str(master).startswith("local"):
            raise ValueError("stage must be given on a cluster: a folder that all executors see")
        folder = tempfile.mkdtemp(prefix="twinsift-spark-")
        # DataFrames made from results read it, and nothing says when the last of them is gone.
        weakref.finalize(self.spark, shutil.rmtree, folder, ignore_errors=True)
        return folder

    def _check(self, options: str) -> None:
        earlier = self._note("options")
        if earlier is not None and earlier != options:
            raise ValueError(f"stage {self.folder} has another job, with {earlier}: name another folder, or remove it")
        if earlier is None:
            self._write_note("options", options)

    def _note(self, name: str) -> str | None:
        """What was written, or None."""
        try:
            # Named twice, since of a single path Spark warns, with all its callers, that it does not exist.
            with quiet():
                rows = self.spark.read.text([f"{self.folder}/{name}.note"] * 2).collect()
        except Exception:  # there is none; its class depends on the version
            return None
        found = {str(row[0]) for row in rows}
        return found.pop() if len(found) == 1 else None

    def _write_note(self, name: str, words: str) -> None:
        frame = self.spark.createDataFrame([(words,)], "value string").coalesce(1)
        frame.write.mode("overwrite").text(f"{self.folder}/{name}.note")

    def write(self, name: str, make: Callable[[], DataFrame]) -> DataFrame:
        """The stage of this name, which is made if it is not there."""
        path = f"{self.folder}/{name}"
        finished = self._note(name) if self._lasts else None
        if finished is None:
            begin = time.monotonic()
            frame = make()
            # Digests and packed rows have no repeats that a dictionary would shorten.
            dictionary = "true" if name == "documents" else "false"
            frame.write.mode("overwrite").option("parquet.enable.dictionary", dictionary).parquet(path)
            self.seconds[name] = round(time.monotonic() - begin, 3)
            if self._lasts:
                self._write_note(name, json.dumps({"seconds": self.seconds[name]}))
        else:
            self.seconds[name] = json.loads(finished)["seconds"]
        return self.spark.read.parquet(path)


def statistics(frame: DataFrame) -> Iterator[dict[str, Any]]:
    """What the tasks of a stage have said, one row for each."""
    for row in frame.select("statistics").where("statistics IS NOT NULL").toLocalIterator():
        yield json.loads(row[0])


@contextlib.contextmanager
def settings(spark: SparkSession) -> Iterator[None]:
    """While it lasts, the session has the settings of the stages."""
    earlier = {name: spark.conf.get(name, None) for name in _SETTINGS}
    try:
        for name, value in _SETTINGS.items():
            spark.conf.set(name, value)
        yield
    finally:
        for name, value in earlier.items():
            if value is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, value)
