"""Tables in files: their text column is read into memory, and their rows are read again and written where they are kept.

A table is read by pyarrow, batch by batch, or by DuckDB if only that is installed. Lines of JSON are read as they are, by
neither, and come out byte for byte.
"""
from __future__ import annotations

import contextlib
import gzip
import importlib
import json
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from typing import Any, BinaryIO

from ._options import texts_of

KINDS = {
    ".parquet": "parquet", ".feather": "feather", ".arrow": "feather", ".ipc": "feather",
    ".csv": "csv", ".tsv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl",
}


def kind_of(path: str) -> str:
    """What a file is, by its name."""
    name = path[:-3] if path.endswith(".gz") else path
    suffix = os.path.splitext(name)[1].lower()
    if suffix not in KINDS:
        raise ValueError(f"{path}: is not a table by its name: {', '.join(KINDS)}, the last four also with .gz")
    return KINDS[suffix]


def same_kind(paths: Sequence[str]) -> str:
    """What all of these files are."""
    kinds = {kind_of(path) for path in paths}
    if len(kinds) > 1:
        raise ValueError(f"inputs and output must be of one kind, not {' and '.join(sorted(kinds))}")
    return kinds.pop()


def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


class Table:
    """Rows of one or several files, in their order."""

    #: Records without a text, which are left out, and where the first of them is.
    skipped, first_skipped = 0, ""

    def __init__(self, paths: Sequence[str]) -> None:
        self.paths = list(paths)

    def column(self, name: str) -> Any:
        """A column, as something that :func:`twinsift.dedup` accepts."""
        raise NotImplementedError

    def values(self, name: str) -> list[Any]:
        """A column as Python objects."""
        raise NotImplementedError

    def write(self, path: str, keep: memoryview[bool]) -> None:
        """Writes the rows that a mask keeps, with all columns."""
        raise NotImplementedError


def open_table(paths: Sequence[str]) -> Table:
    """The files as one table, by what is installed."""
    kind = same_kind(paths)
    for path in paths:
        os.stat(path)  # so that a missing file is reported in one way
    if kind == "jsonl":
        return _Lines(paths)
    if _module("pyarrow") is not None:
        return _ArrowTable(paths, kind)
    if _module("duckdb") is not None and kind != "feather":
        return _DuckTable(paths, kind)
    raise ModuleNotFoundError(f"{paths[0]}: to read this, install pyarrow (pip install pyarrow)"
                              + ("" if kind == "feather" else " or duckdb"))


class replaced_file:
    """As a context: a name to write to, which takes the place of the file when all went well."""

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> str:
        folder, name = os.path.split(os.path.abspath(self._path))
        handle, self._temporary = tempfile.mkstemp(prefix=".twinsift-", suffix=name, dir=folder)
        os.close(handle)
        return self._temporary

    def __exit__(self, kind: object, *details: object) -> None:
        if kind is not None:
            os.unlink(self._temporary)
            return
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(self._temporary, 0o666 & ~mask)
        with open(self._temporary, "rb") as file:
            os.fsync(file.fileno())
        os.replace(self._temporary, self._path)


# ---- lines of JSON


def _open(path: str, mode: str) -> BinaryIO:
    return gzip.open(path, mode) if path.endswith(".gz") else open(path, mode)  # type: ignore[return-value]


def without_surrogates(text: str) -> str:
    """With U+FFFD for lone ones, which escapes can name and texts cannot have."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


class _Number(str):
    """A number as it is written."""


def _constant(name: str) -> Any:
    raise ValueError(f"{name} is no value")


def record_of(line: bytes) -> Any:
    """A line as the program reads it; ValueError or RecursionError if it is not JSON."""
    return json.loads(
        line.decode("utf-8", "replace"), parse_int=_Number, parse_float=_Number, parse_constant=_constant
    )


def at(record: Any, path: str) -> Any:
    """a.b is b in the object a; None if it is not there."""
    for name in path.split("."):
        record = record.get(name) if isinstance(record, dict) else None
    return record


def _has(record: Any, path: str) -> bool:
    folder, _, name = path.rpartition(".")
    holder = at(record, folder) if folder else record
    return isinstance(holder, dict) and name in holder


def text_of(record: Any, paths: str) -> str:
    """The fields that it has of a,b, one after the other; ValueError if there is none, or one that is not a string."""
    parts = [at(record, path) for path in paths.split(",") if _has(record, path)]
    if not parts or not all(isinstance(part, str) and not isinstance(part, _Number) for part in parts):
        raise ValueError(f'has no text in "{paths}"')
    return "\n".join(map(without_surrogates, parts))


class _Lines(Table):
    """Lines that the program skips are skipped here, too."""

    def __init__(self, paths: Sequence[str]) -> None:
        super().__init__(paths)
        self._without: set[tuple[str, int]] = set()

    def _places(self) -> Iterator[tuple[tuple[str, int], bytes]]:
        """Lines, and where they are."""
        for path in self.paths:
            with _open(path, "rb") as file:
                for number, line in enumerate(file, 1):
                    if line.strip() and (path, number) not in self._without:
                        yield (path, number), line if line.endswith(b"\n") else line + b"\n"

    def column(self, name: str) -> list[str]:
        found, without = [], []
        for place, line in self._places():
            try:
                found.append(text_of(record_of(line), name))
            except (ValueError, RecursionError) as error:
                self.first_skipped = self.first_skipped or f"{place[0]}:{place[1]}: {error}"
                without.append(place)
        if without and not found:
            raise ValueError(f"{self.first_skipped}; nor has any other record a text")
        self._without.update(without)
        self.skipped = len(self._without)
        return found

    def values(self, name: str) -> list[Any]:
        rows = (json.loads(line.decode("utf-8", "replace")) for _, line in self._places())
        found = (at(row, name) for row in rows)
        return [without_surrogates(value) if isinstance(value, str) else value for value in found]

    def write(self, path: str, keep: memoryview[bool]) -> None:
        with replaced_file(path) as name, open(name, "wb") as raw:
            file: Any = gzip.GzipFile(path, "wb", fileobj=raw) if path.endswith(".gz") else raw
            file.writelines(line for (_, line), kept in zip(self._places(), keep) if kept)
            if file is not raw:
                file.close()


# ---- pyarrow


_CSV_BLOCKS = (1 << 24, 1 << 28, (1 << 31) - 1)  # bytes; a row has to fit into one


class _ArrowTable(Table):
    def __init__(self, paths: Sequence[str], kind: str) -> None:
        super().__init__(paths)
        self._kind, self._arrow = kind, _module("pyarrow")
        self._block = _CSV_BLOCKS[0]

    def _open(self, path: str, columns: list[str] | None) -> tuple[Any, Iterator[Any]]:
        """The schema of a file, and its batches."""
        arrow = self._arrow
        if self._kind == "parquet":
            importlib.import_module("pyarrow.parquet")
            file = arrow.parquet.ParquetFile(path)
            return file.schema_arrow, file.iter_batches(columns=columns)
        if self._kind == "csv":
            return self._open_csv(path, columns)
        importlib.import_module("pyarrow.ipc")
        reader = arrow.ipc.open_file(arrow.memory_map(path))
        batches = (reader.get_batch(number) for number in range(reader.num_record_batches))
        return reader.schema, (batch.select(columns) if columns else batch for batch in batches)

    def _open_csv(self, path: str, columns: list[str] | None) -> tuple[Any, Iterator[Any]]:
        """All columns as strings, so that 007 stays what it is."""
        csv = importlib.import_module("pyarrow.csv")
        parse = csv.ParseOptions(delimiter="\t" if ".tsv" in path else ",", newlines_in_values=True)
        read = csv.ReadOptions(block_size=self._block)
        with csv.open_csv(path, read, parse) as first:
            schema = self._arrow.schema([(name, self._arrow.string()) for name in first.schema.names])
        convert = csv.ConvertOptions(column_types=schema, include_columns=columns, strings_can_be_null=False)
        return schema, iter(csv.open_csv(path, read, parse, convert))

    def _batches(self, columns: list[str] | None = None) -> Iterator[Any]:
        first = None
        for path in self.paths:
            try:
                schema, batches = self._open(path, columns)
                if columns and columns[0] not in schema.names:
                    raise ValueError(f'has no column "{columns[0]}"; it has: {", ".join(schema.names)}')
                first = schema if first is None else first
                if not first.equals(schema):
                    raise ValueError("has other columns than the first input")
                yield from batches
            except (self._arrow.ArrowException, ValueError, OSError) as error:
                raise ValueError(f"{path}: {error}") from None

    def _chunks(self, name: str) -> list[Any]:
        """A column, in blocks into which the rows of a CSV file fit."""
        for block in _CSV_BLOCKS:
            self._block = max(block, self._block)
            try:
                return [batch.column(0) for batch in self._batches([name])]
            except ValueError as error:
                if "straddling" not in str(error) or block == _CSV_BLOCKS[-1]:
                    raise
        return []

    def column(self, name: str) -> Any:
        chunks = self._chunks(name)
        return self._arrow.chunked_array(chunks) if chunks else []

    def values(self, name: str) -> list[Any]:
        return [value for chunk in self._chunks(name) for value in chunk.to_pylist()]

    def write(self, path: str, keep: memoryview[bool]) -> None:
        schema, _ = self._open(self.paths[0], None)
        words = self._dictionaries(schema) if self._kind == "feather" else {}
        with replaced_file(path) as name, self._writer(path, name, schema) as writer:
            row = 0
            for batch in self._batches():
                mask = self._arrow.array(keep[row : row + batch.num_rows].tolist(), self._arrow.bool_())
                for number, column in words.items():
                    one = column.slice(row, batch.num_rows).combine_chunks()
                    batch = batch.set_column(number, schema.field(number), one)
                row += batch.num_rows
                writer.write_batch(batch.filter(mask))

    def _dictionaries(self, schema: Any) -> dict[int, Any]:
        """Columns of dictionaries, each with one for all rows, since a Feather file has but one."""
        numbers = [i for i, field in enumerate(schema) if self._arrow.types.is_dictionary(field.type)]
        columns = ([batch.column(number) for batch in self._batches()] for number in numbers)
        return {
            number: self._arrow.chunked_array(chunks, schema.field(number).type).unify_dictionaries()
            for number, chunks in zip(numbers, columns)
        }

    def _writer(self, path: str, name: str, schema: Any) -> Any:
        if self._kind == "parquet":
            compression = "zstd" if self._arrow.Codec.is_available("zstd") else "snappy"
            return self._arrow.parquet.ParquetWriter(name, schema, compression=compression)
        if self._kind == "csv":
            csv = importlib.import_module("pyarrow.csv")
            options = csv.WriteOptions(delimiter="\t" if ".tsv" in path else ",", quoting_style="needed")
            sink = self._arrow.output_stream(name, compression="gzip" if path.endswith(".gz") else None)
            return csv.CSVWriter(sink, schema, write_options=options)
        codec = "lz4" if self._arrow.Codec.is_available("lz4") else None
        return self._arrow.ipc.new_file(name, schema, options=self._arrow.ipc.IpcWriteOptions(compression=codec))


# ---- DuckDB


def _quoted(words: str) -> str:
    return "'" + words.replace("'", "''") + "'"


def _column(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _delimiter(path: str) -> str:
    return "'\t'" if ".tsv" in path else "','"


class _DuckTable(Table):
    def __init__(self, paths: Sequence[str], kind: str) -> None:
        super().__init__(paths)
        self._kind = kind
        self._duckdb = _module("duckdb")
        self._connection = self._duckdb.connect()
        files = "[" + ", ".join(map(_quoted, paths)) + "]"
        # Nothing is guessed: each value is a string, and the first row has the names.
        csv = f"delim = {_delimiter(paths[0])}, quote = '\"', escape = '\"', header = true, all_varchar = true"
        csv += f", max_line_size = {1 << 28}"
        self._source = f"read_parquet({files})" if kind == "parquet" else f"read_csv({files}, {csv})"

    def column(self, name: str) -> Any:
        self._check(name)
        with self._named():
            return texts_of(self._connection.sql(f"SELECT {_column(name)} AS text FROM {self._source}"))

    def values(self, name: str) -> list[Any]:
        self._check(name)
        with self._named():
            rows = self._connection.sql(f"SELECT {_column(name)} FROM {self._source}")
            return [row[0] for row in rows.fetchall()]

    @contextlib.contextmanager
    def _named(self) -> Iterator[None]:
        """What DuckDB raises is its own; it becomes a ValueError that names the file."""
        try:
            yield
        except self._duckdb.Error as error:
            raise ValueError(f"{self.paths[0]}: {error}") from None

    def _check(self, name: str) -> None:
        with self._named():
            names = self._connection.sql(f"SELECT * FROM {self._source} LIMIT 0").columns
        if name not in names:
            raise ValueError(f'{self.paths[0]}: has no column "{name}"; it has: {", ".join(names)}')

    def write(self, path: str, keep: memoryview[bool]) -> None:
        options = "FORMAT parquet, COMPRESSION zstd" if self._kind == "parquet" else "FORMAT csv, HEADER"
        if path.endswith(".gz"):
            options += ", COMPRESSION gzip"
        if self._kind == "csv":
            options += f", DELIMITER {_delimiter(path)}"
        rows = f"SELECT *, row_number() OVER () AS twinsift_row FROM {self._source}"
        with tempfile.NamedTemporaryFile("w", suffix=".csv") as kept, replaced_file(path) as name, self._named():
            kept.write("twinsift_row\n")
            kept.writelines(f"{number + 1}\n" for number, one in enumerate(keep) if one)
            kept.flush()
            self._connection.execute(
                f"COPY (SELECT * EXCLUDE (twinsift_row) FROM ({rows}) SEMI JOIN read_csv({_quoted(kept.name)}) "
                f"USING (twinsift_row) ORDER BY twinsift_row) TO {_quoted(name)} ({options})"
            )


# ---- pairs


def write_pairs(path: str, columns: dict[str, list[Any]]) -> None:
    """Writes columns of equal length as a table."""
    kind = kind_of(path)
    writers: dict[str, Callable[[str, str, dict[str, list[Any]]], None]] = {
        "jsonl": _write_lines, "csv": _write_csv, "parquet": _write_arrow, "feather": _write_arrow,
    }
    with replaced_file(path) as name:
        writers[kind](path, name, columns)


def _write_lines(path: str, name: str, columns: dict[str, list[Any]]) -> None:
    with gzip.open(name, "wt") if path.endswith(".gz") else open(name, "w") as file:
        for row in zip(*columns.values()):
            file.write(json.dumps(dict(zip(columns, row)), ensure_ascii=False) + "\n")


def _write_csv(path: str, name: str, columns: dict[str, list[Any]]) -> None:
    csv = importlib.import_module("csv")
    with gzip.open(name, "wt", newline="") if path.endswith(".gz") else open(name, "w", newline="") as file:
        writer = csv.writer(file, delimiter="\t" if ".tsv" in path else ",", lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values()))


def _write_arrow(path: str, name: str, columns: dict[str, list[Any]]) -> None:
    arrow = _module("pyarrow")
    if arrow is None:
        raise ModuleNotFoundError(f"{path}: to write this, install pyarrow; .csv and .jsonl need nothing")
    table = arrow.table(columns)
    if kind_of(path) == "parquet":
        importlib.import_module("pyarrow.parquet").write_table(table, name)
    else:
        importlib.import_module("pyarrow.feather").write_feather(table, name)
