"""python -m twinsift.spark INPUT… -o OUTPUT, also for spark-submit: `twinsift dedup` for what one machine cannot hold."""
from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from typing import TYPE_CHECKING, Any

import twinsift
import twinsift.spark

from ._documents import file_order

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_ABOUT = """Near-duplicates of JSON lines or Parquet, by Apache Spark: writes the records that are kept to a folder."""

_EXAMPLES = """examples:
  python -m twinsift.spark crawl/*.jsonl.gz -o clean
  spark-submit --master spark://HOST:7077 run.py hdfs:///crawl -o hdfs:///clean --stage hdfs:///stage
"""

_KINDS = {".parquet": "parquet", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl"}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "python -m twinsift.spark", description=_ABOUT, epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("inputs", nargs="+", metavar="INPUT", help="files or folders of one kind: .jsonl, also compressed, or .parquet")
    add("-o", "--output", required=True, help="the folder to write, which must not exist")
    add("--as", dest="kind", choices=("auto", "jsonl", "parquet"), default="auto", help="what the inputs are (auto)")
    add("--id-field", help="the field that holds the id; the program's default, id, is taken if there is one")
    add("--text-field", default="text", help="the field that holds the text (text)")
    add("--threshold", "-t", type=float, default=0.8, help="the least similarity (0.8)")
    add("--keep", default="first", metavar="WHICH", help="first, last, longest, shortest, FIELD:max or FIELD:min (first)")
    add("--chain", action="store_true", help="drop whole connected components but one document")
    add("--shingle", default="auto:9", help="auto:N, char:N, word:N, stop:N or byte:N (auto:9)")
    add("--hashes", type=int, default=128, help="numbers of a signature (128)")
    add("--seed", type=int, default=1, help="of everything random (1)")
    add("--groups", metavar="FOLDER", help="write what was dropped for what: id, keeper, similarity, as JSON lines")
    add("--stage", metavar="FOLDER", help="for the stages of the run, which goes on there; all executors must see it")
    add("--partitions", type=int, help="of shuffles (from the number of documents)")
    add("--group-bytes", default="1g", help="texts of larger groups go to the local disk (1g)")
    add("--report", metavar="FILE", help="write counts, seconds and bytes as JSON")
    add("--quiet", "-q", action="store_true", help="no summary")
    add("--version", action="version", version=twinsift.__version__)
    return parser


def _kind_of(path: str) -> str | None:
    name = path.rstrip("/").lower()
    for suffix in (".gz", ".zst", ".bz2"):
        name = name.removesuffix(suffix)
    return next((kind for suffix, kind in _KINDS.items() if name.endswith(suffix)), None)


def _read(spark: SparkSession, options: argparse.Namespace) -> tuple[DataFrame, list[str], bool]:
    """The rows, their files in order, and whether they are lines."""
    kinds = {_kind_of(path) for path in options.inputs} if options.kind == "auto" else {options.kind}
    if kinds <= {None}:  # folders, whose files say it
        found = spark.read.format("binaryFile").load(options.inputs).inputFiles()
        kinds = {_kind_of(path) for path in found} - {None}
    if len(kinds) != 1 or None in kinds:
        raise ValueError("inputs must be of one kind, JSON lines or Parquet; --as says which")
    lines = kinds == {"jsonl"}

    def read(paths: list[str]) -> DataFrame:
        # A carriage return is part of its line, and comes out with it.
        return spark.read.text(paths, lineSep="\n") if lines else spark.read.parquet(*paths)

    files = [name for path in options.inputs for name in file_order(read([path]))]
    return read(options.inputs), list(dict.fromkeys(files)), lines


def _run(spark: SparkSession, options: argparse.Namespace) -> dict[str, Any]:
    rows, files, lines = _read(spark, options)
    keep, text, name = options.keep, options.text_field, options.id_field or ("id" if "id" in rows.columns else None)
    df = rows
    if lines:
        from ._lines import with_fields

        column, _, which = keep.rpartition(":")
        df = with_fields(rows, text, options.id_field or "id", column)
        keep, text, name = f"twinsift_column:{which}" if column else keep, "twinsift_text", "twinsift_id"
    result = twinsift.spark.dedup(
        df, text=text, id=name, files=files, keep=keep, chain=options.chain, threshold=options.threshold,
        shingle=options.shingle, hashes=options.hashes, seed=options.seed, stage=options.stage,
        partitions=options.partitions, group_bytes=options.group_bytes,
    )
    if lines:
        result.kept.select("value").write.text(options.output)
    else:
        result.kept.write.parquet(options.output)
    if options.groups:
        result.dropped.write.json(options.groups)
    report = dict(result.report)
    if lines:
        report["skipped"] = rows.where(r"value RLIKE '\\S'").count() - report["documents"]
    return report


def main(arguments: list[str] | None = None) -> int:
    """Runs the command: 0, or 2 and a sentence on standard error."""
    from pyspark.errors import AnalysisException
    from pyspark.sql import SparkSession

    options = _parser().parse_args(arguments)
    if "PYSPARK_GATEWAY_PORT" not in os.environ:  # not by spark-submit: the workers' Python is this one, which has twinsift
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    spark = SparkSession.builder.appName("twinsift").getOrCreate()
    try:
        report = _run(spark, options)
        if options.report:
            with open(options.report, "w", encoding="utf-8") as file:
                json.dump(report, file, indent=1)
    except (OSError, ValueError, TypeError, twinsift.Error, AnalysisException) as error:
        print(f"python -m twinsift.spark: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("python -m twinsift.spark: interrupted", file=sys.stderr)
        return 128 + signal.SIGINT
    if not options.quiet:
        print(f"{report['documents']:,} documents: {report['exact_copies']:,} exact copies and "
              f"{report['near_copies']:,} near copies dropped, {report['kept']:,} kept; "
              f"largest group {report['largest_group']:,}", file=sys.stderr)
        if report.get("skipped"):
            print(f"{report['skipped']:,} lines could not be read: left out", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
