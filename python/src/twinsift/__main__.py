"""python -m twinsift: near-duplicates of tables in files. The program `twinsift` does more, and reads text itself."""
from __future__ import annotations

import argparse
import signal
import sys
from typing import Any

import twinsift

from ._options import number_of
from ._tables import Table, kind_of, open_table, same_kind, write_pairs

_ABOUT = """Near-duplicates of tables: Parquet, Feather, CSV and JSON lines.

Parquet, Feather and CSV are read by pyarrow, or by DuckDB if only that is installed. The text column is held in memory;
the rows are streamed. The program `twinsift` reads JSON lines, CSV and text files faster."""

_EXAMPLES = """examples:
  python -m twinsift dedup crawl-*.parquet -o clean.parquet
  python -m twinsift dedup --keep score:max --column body posts.parquet -o best.parquet
  python -m twinsift pairs --threshold 0.9 --id url pages.parquet -o pairs.csv
"""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "python -m twinsift", description=_ABOUT, epilog=_EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--version", action="version", version=twinsift.__version__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, about in (
        ("dedup", "write a table without its near-duplicates"), ("pairs", "write the similar pairs of a table")
    ):
        command = commands.add_parser(name, help=about, description=about.capitalize() + ".")
        _add_options(command)
        if name == "dedup":
            command.add_argument(
                "--keep", default="first", metavar="WHICH",
                help="of similar texts: first, last, longest, shortest, COLUMN:max or COLUMN:min (first)",
            )
            command.add_argument("--chain", action="store_true", help="drop whole connected components but one text")
        else:
            command.add_argument("--copies", default="first", help="of equal texts: first, all or none (first)")
    return parser


def _add_options(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("inputs", nargs="+", metavar="INPUT", help="tables of one kind: .parquet, .feather, .csv, .tsv, .jsonl")
    add("-o", "--output", required=True, help="the table to write")
    add("--column", default="text", help="the column with the text (text)")
    add("--id", help="with pairs and --groups: the column that names a row; otherwise its number, from 0")
    add("--threshold", type=float, default=0.8, help="the least similarity (0.8)")
    add("--measure", default="jaccard", help="jaccard or containment; with pairs also edit (jaccard)")
    add("--shingle", default="auto:9", help="auto:N, char:N, word:N, stop:N or byte:N (auto:9)")
    add("--hashes", type=int, default=128, help="numbers of a signature (128)")
    add("--seed", type=int, default=1, help="of everything random (1)")
    add("--against", nargs="+", metavar="INPUT", help="tables to compare with, or whose texts are to be dropped too")
    add("--threads", type=int, default=0, help="0: one per processor (0)")
    add("--groups", metavar="FILE", help="with dedup: a table of what was dropped for what")
    add("--quiet", action="store_true", help="no progress and no summary")


def _arguments(options: argparse.Namespace, others: Table | None) -> dict[str, Any]:
    found = {name: getattr(options, name) for name in ("threshold", "measure", "shingle", "hashes", "seed", "threads")}
    found["progress"] = sys.stderr.isatty() and not options.quiet
    if others is not None:
        found["against"] = _texts(options, others)
    return found


def _against(options: argparse.Namespace) -> Table | None:
    return open_table(options.against) if options.against else None


def _texts(options: argparse.Namespace, table: Table) -> Any:
    texts = table.column(options.column)
    if table.skipped:
        _say(options, f"{table.first_skipped}\n{table.skipped:,} records without a text are left out")
    return texts


def _names(options: argparse.Namespace, table: Table, numbers: Any) -> list[Any]:
    if options.id is None:
        return list(numbers)
    values = table.values(options.id)
    return [values[number] for number in numbers]


def _say(options: argparse.Namespace, words: str) -> None:
    if not options.quiet:
        print(words, file=sys.stderr)


def _comparable(value: Any) -> Any:
    """Numbers, also as strings, are compared as numbers; other strings are larger than numbers."""
    if value is None or isinstance(value, bool) or value != value:
        return None
    number = number_of(value) if isinstance(value, str) else value if isinstance(value, (int, float)) else None
    return (1, 0, str(value)) if number is None else (0, number, "")


def _rank(table: Table, keep: str) -> dict[str, Any]:
    """The arguments that say which text is kept."""
    column, _, which = keep.rpartition(":")
    if not column:
        return {"keep": keep}
    if which not in ("max", "min"):
        raise ValueError(f"--keep {keep}: expected COLUMN:max or COLUMN:min")
    return {"rank": twinsift.ranks(map(_comparable, table.values(column)), largest=which == "max")}


def _dedup(options: argparse.Namespace) -> None:
    same_kind([*options.inputs, options.output])
    table = open_table(options.inputs)
    texts = _texts(options, table)
    result = twinsift.dedup(
        texts, chain=options.chain, **_rank(table, options.keep), **_arguments(options, _against(options))
    )
    table.write(options.output, result.keep)
    if options.groups:
        dropped = [number for number, keeper in enumerate(result.keeper) if keeper not in (number, twinsift.NONE)]
        write_pairs(options.groups, {
            "dropped": _names(options, table, dropped),
            "kept": _names(options, table, [result.keeper[number] for number in dropped]),
            "similarity": [result.similarity[number] for number in dropped],
        })
    report = result.report
    _say(options, f"{report['documents']:,} texts: {report['exact_copies']:,} exact copies and "
                  f"{report['near_copies']:,} near copies dropped, {report['kept']:,} kept")


def _pairs(options: argparse.Namespace) -> None:
    kind_of(options.output)
    table = open_table(options.inputs)
    others = _against(options)
    found = twinsift.pairs(_texts(options, table), copies=options.copies, **_arguments(options, others))
    write_pairs(options.output, {
        "a": _names(options, table, found.a), "b": _names(options, others or table, found.b),
        "similarity": found.similarity.tolist(),
    })
    _say(options, f"{len(found):,} pairs among {found.report['documents']:,} texts")


def main(arguments: list[str] | None = None) -> int:
    """Runs a command: 0, or 2 and a sentence on standard error."""
    options = _parser().parse_args(arguments)
    try:
        (_dedup if options.command == "dedup" else _pairs)(options)
    except (OSError, ValueError, TypeError, ImportError, twinsift.Error) as error:
        print(f"python -m twinsift {options.command}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"python -m twinsift {options.command}: interrupted", file=sys.stderr)
        return 128 + signal.SIGINT
    return 0


if __name__ == "__main__":
    sys.exit(main())
