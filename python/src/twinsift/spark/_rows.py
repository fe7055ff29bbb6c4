"""What runs on the executors: functions from batches of Arrow to batches of Arrow, around calls of the C library.

Rows that Spark moves are packed: one binary value holds many of them, in the layout of a NumPy type, so that a shuffle
of 25 rows per document costs what its bytes cost and not what the rows of a JVM do. Within a task NumPy sorts them.
"""
from __future__ import annotations

import json
import mmap
import os
import struct
import tempfile
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from .. import _core
from .._options import number_of, texts_of

#: From so many rows of equal key on, a bucket is a star; see shards.h.
LARGE_BUCKET = 64
_SIGNED_AT_ONCE = 20_000  # documents whose rows make one packed value per part
_BANDED_AT_ONCE = 8_000  # documents, times their bands
_FLUSHED_BYTES = 64 << 20  # of text that one call of the engine decides

Batches = Iterable[pa.RecordBatch]


class Rule(NamedTuple):
    """How documents are signed, and which of similar ones is preferred."""

    scheme: str
    keep: str  # "first", "last", or "rank": by a column of that name, then by digest of the text, id, and number
    largest: bool = False  # of ranks, is preferred
    chain: bool = False
    group_bytes: int = 1 << 30

    def ranks(self, column: Any) -> np.ndarray[Any, Any]:
        """Strings of bytes, of which the smallest is preferred; missing values come last."""
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            return np.array([self._rank(value) for value in column.to_pylist()], dtype="S")
        missing = np.asarray(column.is_null(nan_is_null=True).to_pylist(), bool)
        values = column.fill_null(0).to_numpy(zero_copy_only=False)
        if values.dtype == np.float64:
            values = _ordered((values + 0.0).view(np.int64))
        ranks = np.empty(len(values), [("place", "u1"), ("value", ">u8")])
        ranks["place"] = np.where(missing, MISSING, PRESENT)
        ranks["value"] = (~values if self.largest else values).view(np.uint64) ^ np.uint64(1 << 63)
        ranks["value"][missing] = 0
        return ranks.view("S9")

    def _rank(self, value: str | None) -> bytes:
        """Numbers are smaller than other strings, as for the program."""
        if value is None:
            return bytes([MISSING])
        number = number_of(value)
        if number is None:
            body = b"\1" + value.encode()
        else:  # a double, and how far a whole number is from it, which may have more digits
            double = float(number)
            [bits] = np.array([double + 0.0]).view(np.int64)
            rest = number - int(double) if isinstance(number, int) and abs(number) < 1 << 64 else 0
            body = b"\0" + (int(_ordered(bits)) + (1 << 63)).to_bytes(8, "big") + (rest + (1 << 15)).to_bytes(2, "big")
        return bytes([PRESENT]) + (body.translate(_REVERSED) + b"\xff" if self.largest else body)


PRESENT, MISSING = 1, 2
_REVERSED = bytes(range(255, -1, -1))


def _ordered(bits: Any) -> Any:
    """Bits of doubles as whole numbers in the order of the doubles."""
    return bits ^ ((bits >> 63) & np.int64(0x7FFFFFFFFFFFFFFF))


def signed_type(bands: int, sketch: int, rank: int = 0, id: int = 0) -> np.dtype[Any]:
    """A signed document: the digest of its normalised text, its number, and what candidates are found by; with room for
    a rank and an id of so many bytes, unless these are 0."""
    fields: list[Any] = [("low", "<u8"), ("high", "<u8"), ("doc", "<i8")]
    if rank:
        fields += [("rank", f"S{rank}"), ("raw_high", "<u8"), ("raw_low", "<u8"), ("id", f"S{id}")]
    return np.dtype([*fields, ("keys", "<u8", (bands,)), ("sketch", "u1", (sketch,))])


def row_type(sketch: int) -> np.dtype[Any]:
    """A document in a bucket."""
    return np.dtype([("key", "<u8"), ("doc", "<i8"), ("sketch", "u1", (sketch,))])


def _batch(schema: pa.Schema, columns: dict[str, Any], rows: int) -> pa.RecordBatch:
    """A batch of these columns; the others are null."""
    return pa.record_batch(
        [columns[field.name] if field.name in columns else pa.nulls(rows, field.type) for field in schema], schema=schema
    )


def _statistics(schema: pa.Schema, **values: Any) -> pa.RecordBatch:
    """A row that says what a task has done."""
    columns = {"kind": pa.array([None], pa.int8())} if "kind" in schema.names else {}
    return _batch(schema, {**columns, "statistics": pa.array([json.dumps(values)])}, 1)


def _divided(rows: np.ndarray[Any, Any], part: np.ndarray[Any, Any]) -> Iterator[tuple[int, np.ndarray[Any, Any]]]:
    """The rows of each part, which are sorted by part."""
    if len(part) == 0:
        return
    bounds = np.flatnonzero(np.diff(part)) + 1
    for begin, end in zip([0, *bounds], [*bounds, len(part)]):
        yield int(part[begin]), rows[begin:end]


# ---- sign

SIGNED = pa.schema([("part", pa.int32()), ("rows", pa.binary()), ("statistics", pa.string())])


class Signing:
    """doc, text (and rank, id) → packed signed documents by parts of their digests. Empty ones are left out: they are
    similar to none."""

    def __init__(self, rule: Rule, salts: list[int]) -> None:
        self.rule, self.salts = rule, salts

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        signer = _core.Signer(self.rule.scheme)
        salts = np.array(self.salts, np.int32)
        waiting: list[np.ndarray[Any, Any]] = []
        documents = size = moved = empty = 0
        for batch in batches:
            signed, without = self._sign(signer, batch)
            documents, size, empty = documents + batch.num_rows, size + batch.column("text").nbytes, empty + without
            waiting.append(signed)
            if sum(map(len, waiting)) >= _SIGNED_AT_ONCE:
                moved += sum(each.nbytes for each in waiting)
                yield from self._pack(waiting, salts)
                waiting = []
        moved += sum(each.nbytes for each in waiting)
        yield from self._pack(waiting, salts)
        yield _statistics(SIGNED, documents=documents, text_bytes=size, empty=empty, moved=moved)

    def _sign(self, signer: Any, batch: pa.RecordBatch) -> tuple[np.ndarray[Any, Any], int]:
        texts = texts_of(batch.column("text"))
        digests, keys, sketches, empty = map(np.asarray, _core.shard_sign(signer, texts))
        used = np.flatnonzero(~empty)
        room: tuple[int, ...] = ()
        if self.rule.keep == "rank":
            ranks, ids = self.rule.ranks(batch.column("rank")), _id_bytes(batch.column("id"))
            room = ranks.itemsize, ids.itemsize
        rows = np.empty(len(used), signed_type(keys.shape[1], sketches.shape[1], *room))
        rows["low"], rows["high"] = digests[used, 0], digests[used, 1]
        rows["doc"] = batch.column("doc").to_numpy()[used]
        rows["keys"], rows["sketch"] = keys[used], sketches[used]
        if room:
            raw = np.asarray(_core.shard_digests(texts))
            rows["raw_high"], rows["raw_low"], rows["id"], rows["rank"] = raw[used, 0], raw[used, 1], ids[used], ranks[used]
        return rows, len(empty) - len(used)

    def _pack(self, waiting: list[np.ndarray[Any, Any]], salts: np.ndarray[Any, Any]) -> Iterator[pa.RecordBatch]:
        if not waiting:
            return
        rows = _joined(waiting)
        part = (rows["low"] % np.uint64(len(salts))).astype(np.int32)
        order = np.argsort(part, kind="stable")
        parts = list(_divided(rows[order], part[order]))
        yield _batch(SIGNED, {
            "part": pa.array(salts[[number for number, _ in parts]]),
            "rows": pa.array([_packed(each) for _, each in parts], pa.binary()),
        }, len(parts))


_ROOM = struct.Struct("<ii")


def _packed(rows: np.ndarray[Any, Any]) -> bytes:
    """With the room for ranks and ids behind the rows, if they have these."""
    ranked = "id" in (rows.dtype.names or ())
    return rows.tobytes() + (_ROOM.pack(rows.dtype["rank"].itemsize, rows.dtype["id"].itemsize) if ranked else b"")


def _id_bytes(column: Any) -> np.ndarray[Any, Any]:
    return np.array([b"" if one is None else one.encode() for one in column.to_pylist()], dtype="S")


def _joined(blocks: list[np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
    """Of types that differ at most in the room for ranks and ids."""
    first = blocks[0].dtype
    widest = [(name, max((block.dtype[name] for block in blocks), key=lambda one: one.itemsize)) for name in first.names or ()]
    return np.concatenate([block.astype(widest, copy=False) for block in blocks])


# ---- fold and band

BANDED = pa.schema([("kind", pa.int8()), ("part", pa.int32()), ("rows", pa.binary())])
ROWS, EDGES, COPIES = 0, 1, 2


class Banding:
    """Signed documents of a part → those with equal text folded; rows of buckets by parts of their keys, edges of
    buckets that are large here already, and copies."""

    def __init__(self, rule: Rule, bands: int, sketch: int, salts: list[int]) -> None:
        self.rule, self.bands, self.sketch, self.salts = rule, bands, sketch, salts

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        blocks = [self._unpack(value) for batch in batches for value in batch.column("rows").to_pylist()]
        if not blocks:
            return
        rows = _joined(blocks)
        blocks.clear()
        firsts, copies = self._fold(rows)
        salts = np.array(self.salts, np.int32)
        yield self._batch([(COPIES, int(salts[int(rows["low"][0]) % len(salts)]), copies)])
        for begin in range(0, len(firsts), _BANDED_AT_ONCE):
            yield self._batch(list(self._band(firsts[begin : begin + _BANDED_AT_ONCE], salts)))

    def _unpack(self, value: bytes) -> np.ndarray[Any, Any]:
        if self.rule.keep != "rank":
            return np.frombuffer(value, signed_type(self.bands, self.sketch))
        room = _ROOM.unpack(value[-_ROOM.size :])
        return np.frombuffer(value[: -_ROOM.size], signed_type(self.bands, self.sketch, *room))

    def _fold(self, rows: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """The preferred one of each text, and pairs (copy, preferred one)."""
        order = np.lexsort((*preference(self.rule.keep, rows), rows["high"], rows["low"]))
        low, high = rows["low"][order], rows["high"][order]
        starts = np.concatenate(([True], (low[1:] != low[:-1]) | (high[1:] != high[:-1])))
        docs = rows["doc"][order]
        first = docs[np.flatnonzero(starts)[np.cumsum(starts) - 1]]
        copies = np.stack([docs[~starts], first[~starts]], axis=1)
        return rows[order[starts]], copies

    def _band(self, firsts: np.ndarray[Any, Any], salts: np.ndarray[Any, Any]) -> Iterator[tuple[int, int, Any]]:
        keys = firsts["keys"].reshape(-1)
        part = (((keys ^ (keys >> np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(33)).astype(np.int64)
        part %= len(salts)
        order = np.lexsort((keys, part))
        keys, part, owner = keys[order], part[order], order // firsts["keys"].shape[1]
        place, begin = _places(keys)
        sent = place < LARGE_BUCKET  # which are as many as it takes to make the bucket large where all of it meets
        if not sent.all():
            docs, rest = firsts["doc"], np.flatnonzero(~sent)
            edges = np.stack([docs[owner[begin[rest]]], docs[owner[rest]]], axis=1)
            for number, some in _divided(edges, part[rest]):
                yield EDGES, int(salts[number]), some
            keys, part, owner = keys[sent], part[sent], owner[sent]
        rows = np.empty(len(keys), row_type(self.sketch))
        rows["key"], rows["doc"], rows["sketch"] = keys, firsts["doc"][owner], firsts["sketch"][owner]
        for number, some in _divided(rows, part):
            yield ROWS, int(salts[number]), some

    def _batch(self, packed: list[tuple[int, int, Any]]) -> pa.RecordBatch:
        return _batch(BANDED, {
            "kind": pa.array([kind for kind, _, _ in packed], pa.int8()),
            "part": pa.array([part for _, part, _ in packed], pa.int32()),
            "rows": pa.array([each.tobytes() for _, _, each in packed], pa.binary()),
        }, len(packed))


def preference(keep: str, rows: Any) -> tuple[np.ndarray[Any, Any], ...]:
    """Keys for lexsort, the least important first, that put the preferred document first."""
    if keep == "first":
        return (rows["doc"],)
    if keep == "last":
        return (-rows["doc"],)
    return rows["doc"], rows["id"], rows["raw_low"], rows["raw_high"], rows["rank"]


def _places(keys: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Of each key, which are sorted, the place among its equals, and where these begin."""
    new = np.concatenate(([True], keys[1:] != keys[:-1]))
    begin = np.flatnonzero(new)[np.cumsum(new) - 1]
    return np.arange(len(keys)) - begin, begin


# ---- edges

FOREST = pa.schema([("kind", pa.int8()), ("a", pa.int64()), ("b", pa.int64()), ("statistics", pa.string())])


class Joining:
    """Rows of the buckets of a part → a forest of the edges between their documents; copies pass through."""

    def __init__(self, rule: Rule, sketch: int) -> None:
        self.rule, self.sketch = rule, sketch

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        unions, blocks = _core.Unions(), []
        for batch in batches:
            kinds = batch.column("kind").to_numpy()
            for kind, value in zip(kinds, batch.column("rows").to_pylist()):
                if kind == ROWS:
                    blocks.append(np.frombuffer(value, row_type(self.sketch)))
                    continue
                pairs = np.frombuffer(value, np.int64).reshape(-1, 2)
                if kind == COPIES:
                    yield _pairs(COPIES, pairs[:, 0], pairs[:, 1])
                else:
                    unions.add(pairs[:, 0].copy(), pairs[:, 1].copy())
        if not blocks:
            return
        large, largest, size = self._join(unions, blocks)
        documents, groups = map(np.asarray, unions.list())
        joined = documents != groups
        yield _pairs(EDGES, groups[joined].view(np.int64), documents[joined].view(np.int64))
        yield _statistics(FOREST, large_buckets=large, largest_bucket=largest, moved=size)

    def _join(self, unions: Any, blocks: list[np.ndarray[Any, Any]]) -> tuple[int, int, int]:
        rows = np.concatenate(blocks)
        blocks.clear()
        keys = rows["key"]
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        place, _ = _places(keys)
        unions.add_rows(self.rule.scheme, keys, rows["doc"][order], np.ascontiguousarray(rows["sketch"][order]))
        return int((place == LARGE_BUCKET - 1).sum()), int(place.max()) + 1, rows.nbytes


def _pairs(kind: int, a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> pa.RecordBatch:
    return _batch(FOREST, {
        "kind": pa.array(np.full(len(a), kind, np.int8)), "a": pa.array(np.ascontiguousarray(a)),
        "b": pa.array(np.ascontiguousarray(b)),
    }, len(a))


# ---- groups

GROUPS = pa.schema([("doc", pa.int64()), ("group", pa.int64()), ("statistics", pa.string())])
_WRITTEN_AT_ONCE = 1 << 20


def unite(batches: Batches) -> Iterator[pa.RecordBatch]:
    """Edges a, b → each document that has one, and its group, the smallest document of it."""
    unions = _core.Unions()
    for batch in batches:
        unions.add(batch.column("a").to_numpy(), batch.column("b").to_numpy())
    documents, groups = (np.asarray(each).view(np.int64) for each in unions.list())
    for begin in range(0, len(documents), _WRITTEN_AT_ONCE):
        some = slice(begin, begin + _WRITTEN_AT_ONCE)
        columns = {"doc": pa.array(documents[some]), "group": pa.array(groups[some])}
        yield _batch(GROUPS, columns, len(documents[some]))
    sizes = np.unique(groups, return_counts=True)[1]
    yield _statistics(
        GROUPS, involved=len(documents), joined_groups=len(sizes), largest_group=int(sizes.max()) if len(sizes) else 0
    )


# ---- decide

DECIDED = pa.schema([
    ("doc", pa.int64()), ("other", pa.int64()), ("similarity", pa.float64()), ("statistics", pa.string())
])


class Deciding:
    """group, doc, text (and rank, id), sorted by group and doc → documents that are dropped and their keepers; or, with
    `pairs`, the similar pairs. One call of the engine decides many whole groups. A group that is larger than the rule's
    group_bytes is written to the local disk first, and searched there within that memory."""

    def __init__(self, rule: Rule, pairs: bool = False) -> None:
        self.rule, self.pairs = rule, pairs
        self.limit = min(rule.group_bytes, _FLUSHED_BYTES)

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        waiting, moved = _Waiting(self.rule.group_bytes), 0
        for batch in batches:
            moved += batch.nbytes
            for piece in _by_group(batch, self.rule.group_bytes):
                if waiting.group == piece.group:
                    if waiting.is_full(piece):
                        earlier, waiting = waiting.split()
                        if earlier.rows:
                            yield from self._flush(earlier)
                elif waiting.rows and (waiting.bytes >= self.limit or waiting.is_full(piece)):
                    yield from self._flush(waiting)
                    waiting = _Waiting(self.rule.group_bytes)
                if waiting.is_full(piece):
                    waiting.spill()
                waiting.add(piece)
        if waiting.rows:
            yield from self._flush(waiting)
        yield _statistics(DECIDED, moved=moved)

    def _flush(self, waiting: _Waiting) -> Iterator[pa.RecordBatch]:
        with waiting:
            yield self._decide(waiting)
        if waiting.file is not None:
            yield _statistics(DECIDED, group=waiting.group, bytes=waiting.bytes, documents=len(waiting.column("doc")))

    def _decide(self, waiting: _Waiting) -> pa.RecordBatch:
        docs = waiting.column("doc")
        texts = texts_of(waiting.texts())
        memory = self.rule.group_bytes if waiting.file is not None else 0
        scheme, folder = self.rule.scheme, _local_folder()
        if self.pairs:
            found = _core.pairs(texts, None, scheme, 0, -1.0, -1, 1, None, memory, folder)
            a, b, similarity = map(np.asarray, found[:3])
            one, other = docs[a], docs[b]
        else:
            order = self._order(waiting, docs, texts)
            found = _core.dedup(texts, None, scheme, 0, self.rule.chain, -1.0, -1, order, 1, None, memory, folder)
            _, _, keeper, similarity = map(np.asarray, found[:4])
            dropped = np.flatnonzero(keeper != np.arange(len(docs)))
            one, other, similarity = docs[dropped], docs[keeper[dropped]], similarity[dropped]
        return _batch(DECIDED, {
            "doc": pa.array(one), "other": pa.array(other), "similarity": pa.array(similarity)
        }, len(one))

    def _order(self, waiting: _Waiting, docs: np.ndarray[Any, Any], texts: Any) -> Any:
        if self.rule.keep == "first":
            return None
        columns: dict[str, Any] = {"doc": docs}
        if self.rule.keep == "rank":
            raw = np.asarray(_core.shard_digests(texts))
            columns |= {"raw_high": raw[:, 0], "raw_low": raw[:, 1], "id": _id_bytes(waiting.values("id")),
                        "rank": self.rule.ranks(waiting.values("rank"))}
        return np.lexsort(preference(self.rule.keep, columns)).astype(np.uint32)


def _local_folder() -> str:
    """On the local disk of the executor."""
    folders = os.environ.get("SPARK_LOCAL_DIRS", "").split(",")
    return folders[0] if os.path.isdir(folders[0]) else tempfile.gettempdir()


class _Piece(NamedTuple):
    group: int
    batch: pa.RecordBatch
    bytes: int


def _by_group(batch: pa.RecordBatch, group_bytes: int) -> Iterator[_Piece]:
    """A batch, cut where the group changes; whole groups within it are kept together, unless one may be large."""
    groups = batch.column("group").to_numpy()
    if len(groups) == 0:
        return
    bounds = (np.flatnonzero(np.diff(groups)) + 1).tolist()
    if batch.column("text").nbytes <= group_bytes:
        bounds = bounds[:1] + bounds[1:][-1:]
    for begin, end in zip([0, *bounds], [*bounds, len(groups)]):
        piece = batch.slice(begin, end - begin)
        yield _Piece(int(groups[end - 1]), piece, piece.column("text").nbytes)


class _Waiting:
    """Rows of groups that are decided together; of one group, once its texts are on the disk."""

    def __init__(self, group_bytes: int) -> None:
        self.group: int | None = None  # of the last row
        self.group_bytes, self.bytes, self.rows = group_bytes, 0, 0
        self.file: Any = None
        self._batches: list[pa.RecordBatch] = []
        self._lengths: list[np.ndarray[Any, Any]] = []
        self._map: Any = None

    def is_full(self, piece: _Piece) -> bool:
        return self.file is None and self.bytes + piece.bytes > self.group_bytes

    def add(self, piece: _Piece) -> None:
        self.group, self.bytes, self.rows = piece.group, self.bytes + piece.bytes, self.rows + piece.batch.num_rows
        batch = piece.batch
        if self.file is not None:
            self._write(batch.column("text"))
            batch = batch.drop_columns(["text"])
        self._batches.append(batch)

    def split(self) -> tuple[_Waiting, _Waiting]:
        """The rows before those of the last group, and these."""
        earlier, last = _Waiting(self.group_bytes), _Waiting(self.group_bytes)
        for batch in self._batches:
            groups = batch.column("group").to_numpy()
            cut = int(np.searchsorted(groups == self.group, True))
            for target, piece in ((earlier, batch.slice(0, cut)), (last, batch.slice(cut))):
                if piece.num_rows:
                    target.add(_Piece(int(piece.column("group")[-1].as_py()), piece, piece.column("text").nbytes))
        return earlier, last

    def spill(self) -> None:
        """From now on texts go to a file without a name."""
        self.file = tempfile.TemporaryFile(prefix="twinsift-", dir=_local_folder())
        for number, batch in enumerate(self._batches):
            self._write(batch.column("text"))
            self._batches[number] = batch.drop_columns(["text"])

    def _write(self, texts: Any) -> None:
        lengths = np.zeros(len(texts), np.int64)
        for number, text in enumerate(texts.cast(_binary_like(texts.type))):
            value = text.as_buffer()
            if value is not None:
                lengths[number] = value.size
                self.file.write(value)
        self._lengths.append(lengths)

    def column(self, name: str) -> np.ndarray[Any, Any]:
        """The numbers of a column."""
        return np.concatenate([batch.column(name).to_numpy() for batch in self._batches])

    def values(self, name: str) -> Any:
        return pa.chunked_array([batch.column(name) for batch in self._batches]).combine_chunks()

    def texts(self) -> Any:
        if self.file is None:
            return pa.chunked_array([batch.column("text") for batch in self._batches])
        self.file.flush()
        offsets = np.concatenate(([0], np.cumsum(np.concatenate(self._lengths))))
        size = os.fstat(self.file.fileno()).st_size
        self._map = mmap.mmap(self.file.fileno(), size, access=mmap.ACCESS_READ) if size else b""
        buffers = [None, pa.py_buffer(offsets.tobytes()), pa.py_buffer(self._map)]
        return pa.Array.from_buffers(pa.large_binary(), len(offsets) - 1, buffers)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *details: object) -> None:
        if self.file is not None:
            self.file.close()


def _binary_like(kind: pa.DataType) -> pa.DataType:
    return pa.large_binary() if pa.types.is_large_string(kind) or pa.types.is_large_binary(kind) else pa.binary()


# ---- which documents

BITS = pa.schema([("chunk", pa.int64()), ("bits", pa.list_(pa.int64()))])
CHUNK_BITS = 16  # a bitmap has a row for each 2^16 documents


def bitmap(batches: Batches) -> Iterator[pa.RecordBatch]:
    """Documents, all of the same chunks → a bit for each document of these chunks."""
    docs = np.concatenate([np.empty(0, np.int64), *(batch.column("doc").to_numpy() for batch in batches)])
    docs.sort()
    for chunk, some in _divided(docs, docs >> CHUNK_BITS):
        flags = np.zeros(1 << CHUNK_BITS, np.uint8)
        flags[some & ((1 << CHUNK_BITS) - 1)] = 1
        words = np.packbits(flags, bitorder="little").view(np.int64)
        yield pa.record_batch([pa.array([chunk]), pa.array([words], pa.list_(pa.int64()))], schema=BITS)


# ---- sign and query, for their own sake


class Appending:
    """Rows → the same rows, with columns made of their texts."""

    def __init__(self, text: str, make: Callable[[Any], dict[str, Any]]) -> None:
        self.text, self.make = text, make

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            table = pa.Table.from_batches([batch])
            for name, column in self.make(batch.column(self.text)).items():
                table = table.append_column(name, column)
            yield from table.to_batches()
