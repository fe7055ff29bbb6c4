"""What texts may come in: iterables, NumPy, and everything that has Arrow capsules; and how results leave."""
import pytest

import twinsift

numpy = pytest.importorskip("numpy")
pyarrow = pytest.importorskip("pyarrow")
TEXTS = ["the quick brown fox jumps", None, "the quick brown fox jumped", "x" * 13, "", "déjà vu", "日本語のテキスト"]


def sign(texts, **keywords):
    return numpy.asarray(twinsift.Signer().sign_many(texts, **keywords))


@pytest.fixture(scope="module")
def expected():
    return numpy.array([twinsift.Signer().sign(text or "").tolist() for text in TEXTS], numpy.uint32)


def arrow_inputs():
    array = pyarrow.array(TEXTS)
    longer = pyarrow.array(["before", None, *TEXTS, "after"])
    yield "string", array
    yield "large_string", array.cast(pyarrow.large_string())
    yield "string_view", pyarrow.array(TEXTS, pyarrow.string_view())
    yield "binary", array.cast(pyarrow.binary())
    yield "large_binary", array.cast(pyarrow.large_binary())
    yield "binary_view", pyarrow.array([text and text.encode() for text in TEXTS], pyarrow.binary_view())
    yield "dictionary", array.dictionary_encode()
    for index in (pyarrow.int8(), pyarrow.uint8(), pyarrow.int16(), pyarrow.uint16(), pyarrow.int64(), pyarrow.uint64()):
        yield f"dictionary of {index}", array.cast(pyarrow.dictionary(index, pyarrow.string()))
    yield "chunked", pyarrow.chunked_array([TEXTS[:1], [], TEXTS[1:3], TEXTS[3:]])
    for name in ("string", "large_string", "string_view"):
        yield f"sliced {name}", longer.cast(getattr(pyarrow, name)()).slice(2, len(TEXTS))
    yield "sliced dictionary", longer.dictionary_encode().slice(2, len(TEXTS))
    yield "table", pyarrow.table({"id": range(len(TEXTS)), "text": TEXTS})
    yield "sliced table", pyarrow.table({"text": longer}).slice(2, len(TEXTS))
    yield "sliced batch", pyarrow.record_batch({"n": range(len(longer)), "text": longer}).slice(2, len(TEXTS))
    yield "reader", pyarrow.table({"text": TEXTS}).to_reader(max_chunksize=2)
    yield "struct", pyarrow.StructArray.from_arrays([longer], ["text"]).slice(2, len(TEXTS))


@pytest.mark.parametrize("texts", [pytest.param(texts, id=name) for name, texts in arrow_inputs()])
def test_arrow_comes_in(texts, expected):
    assert (sign(texts) == expected).all()


def other_inputs():
    yield "list", TEXTS
    yield "tuple", tuple(TEXTS)
    yield "generator", (text for text in TEXTS)
    yield "bytes", [text and text.encode() for text in TEXTS]
    yield "dictionary of columns", {"id": range(7), "text": TEXTS}
    yield "rows", [{"id": 1, "text": text} for text in TEXTS]
    yield "NumPy strings", numpy.array([text or "" for text in TEXTS])
    yield "NumPy objects", numpy.array(TEXTS, dtype=object)
    yield "NumPy bytes", numpy.array([(text or "").encode() for text in TEXTS])
    yield "NaN", [float("nan") if text is None else text for text in TEXTS]


@pytest.mark.parametrize("texts", [pytest.param(texts, id=name) for name, texts in other_inputs()])
def test_iterables_come_in(texts, expected):
    assert (sign(texts) == expected).all()


def test_pandas_comes_in(expected):
    pandas = pytest.importorskip("pandas")
    for series in (pandas.Series(TEXTS), pandas.Series(TEXTS, dtype="string"), pandas.Series(TEXTS, index=range(9, 2, -1))):
        assert (sign(series) == expected).all()
        assert (sign(pandas.DataFrame({"n": 1, "text": series})) == expected).all()
    with pytest.raises(ValueError, match='no column "body"; it has: text'):
        sign(pandas.DataFrame({"text": TEXTS}), column="body")


def test_polars_comes_in(expected):
    polars = pytest.importorskip("polars")
    series = polars.Series(TEXTS)
    for texts in (series, polars.DataFrame({"text": series}), series.cast(polars.Categorical)):
        assert (sign(texts) == expected).all()


def test_duckdb_comes_in(expected):
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t (n INTEGER, body VARCHAR)")
    connection.executemany("INSERT INTO t VALUES (?, ?)", list(enumerate(TEXTS)))
    assert (sign(connection.sql("SELECT * FROM t ORDER BY n"), column="body") == expected).all()


def test_hugging_face_datasets_come_in(expected):
    datasets = pytest.importorskip("datasets")
    dataset = datasets.Dataset.from_dict({"text": TEXTS})
    for texts in (dataset, dataset["text"], dataset.data.table, dataset.select(range(7))):
        assert (sign(texts) == expected).all()


def test_a_fixed_size_binary_column_comes_in():
    array = pyarrow.array([b"abc", None, b"def"], pyarrow.binary(3))
    assert (sign(array) == sign(["abc", None, "def"])).all()


def test_nulls_and_the_null_type_are_empty_texts():
    assert (sign(pyarrow.nulls(3)) == sign(["", "", ""])).all()


def test_null_rows_of_a_struct_are_empty_texts():
    struct = pyarrow.array([{"text": "one text"}, None, {"text": None}, {"text": "another"}])
    assert (sign(struct) == sign(["one text", "", "", "another"])).all()


def test_results_leave_as_arrow(texts):
    pairs, result = twinsift.pairs(texts, threshold=0.6), twinsift.dedup(texts, threshold=0.6)
    table = pyarrow.table(pairs)
    assert list(zip(*(column.to_pylist() for column in table.columns))) == list(pairs)
    assert table.column_names == ["a", "b", "similarity"]
    table = pyarrow.table(result)
    assert table["keep"].to_pylist() == result.keep.tolist() and table["keeper"].to_pylist() == result.keeper.tolist()
    assert pyarrow.RecordBatchReader.from_stream(pairs).read_all().num_rows == len(pairs)
    signatures = twinsift.Signer(hashes=8).sign_many(texts)
    array = pyarrow.array(signatures)
    assert array.type.list_size == 8 and array.to_pylist() == [row.tolist() for row in signatures]


def test_arrow_of_a_result_outlives_it(texts):
    similarity = pyarrow.table(twinsift.pairs(texts, threshold=0.6))["similarity"]
    expected = twinsift.pairs(texts, threshold=0.6).similarity.tolist()
    for _ in range(50):
        twinsift.pairs(texts[:40])
    assert similarity.to_pylist() == expected


def test_polars_and_duckdb_read_results(texts):
    polars, duckdb = pytest.importorskip("polars"), pytest.importorskip("duckdb")
    pairs = twinsift.pairs(texts, threshold=0.6)
    assert polars.DataFrame(pairs).rows() == list(pairs)
    assert duckdb.sql("SELECT count(*), max(b) FROM pairs").fetchall() == [(len(pairs), max(pairs.b))]
