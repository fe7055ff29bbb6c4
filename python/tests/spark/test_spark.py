"""twinsift.spark gives the answers of twinsift.dedup and of the program."""
import doctest
import gc
import json
import pathlib
import random
import re
import subprocess
import sys

import corpus
import pytest

import twinsift

pytest.importorskip("pyspark")

import numpy  # noqa: E402
import pyarrow  # noqa: E402

import twinsift.spark  # noqa: E402
from twinsift.spark import _rows  # noqa: E402

COUNT = 1500


@pytest.fixture(scope="module")
def documents():
    """Of all kinds, with ids that are strings and scores, some of which are missing."""
    generator = random.Random(7)
    texts = corpus.corpus(COUNT, seed=7)
    form = corpus.document(generator, 80)
    texts += ["the same text, a hundred times"] * 100 + [corpus.edited(generator, form, 2) for _ in range(100)]
    generator.shuffle(texts)
    texts[5], texts[6], texts[7] = "", None, "\U0001F600 déjà vu" + " x" * 200_000
    scores = [None if number % 11 == 0 else number * 37 % 50 - 20.5 for number in range(len(texts))]
    return [(f"d{number * 7 % 1000}-{number}", text, score) for number, (text, score) in enumerate(zip(texts, scores))]


@pytest.fixture(scope="module")
def files(spark, documents, tmp_path_factory):
    """Three Parquet files, in the order of their names, and the same documents as JSON lines."""
    folder = tmp_path_factory.mktemp("documents")
    for part in range(3):
        rows = documents[part * 600 : (part + 1) * 600 if part < 2 else None]
        frame = spark.createDataFrame(rows, "id string, text string, score double").coalesce(1)
        frame.write.mode("append").parquet(str(folder / f"table/{part} part"))
    with open(folder / "documents.jsonl", "w", encoding="utf-8") as lines:
        for one, text, score in documents:
            fields = {"id": one, "text": text or ""} | ({} if score is None else {"score": score})
            lines.write(json.dumps(fields, ensure_ascii=False) + "\n")
    return folder


@pytest.fixture(scope="module")
def table(spark, files):
    return spark.read.parquet(*(str(files / f"table/{part} part") for part in range(3)))


def answer_of(result):
    kept = {row.id for row in result.kept.select("id").collect()}
    return kept, {row.id: (row.keeper, round(row.similarity, 12)) for row in result.dropped.collect()}


def truth_of(documents, **keywords):
    result = twinsift.dedup([text for _, text, _ in documents], **keywords)
    ids = [one for one, _, _ in documents]
    kept = {ids[number] for number in result.kept}
    return kept, {
        ids[number]: (ids[keeper], round(result.similarity[number], 12))
        for number, keeper in enumerate(result.keeper) if keeper != number
    }


@pytest.mark.parametrize("partitions", [1, 7])
def test_the_answer_is_that_of_one_machine_for_any_partitions(table, documents, partitions):
    result = twinsift.spark.dedup(table, id="id", partitions=partitions)
    assert answer_of(result) == truth_of(documents)
    kept = result.kept.collect()
    assert kept[0].asDict().keys() == {"id", "text", "score"} and len(kept) == result.report["kept"]
    assert result.report["documents"] == len(documents) and result.report["large_buckets"] > 0
    assert set(result.report["seconds"]) >= {"signed", "edges", "groups", "decided"}
    assert result.report["bytes"]["signed"] > 280 * 1000 and result.report["bytes"].keys() == {"signed", "edges", "decided"}


def test_a_low_threshold_and_other_shingles(table, documents):
    result = twinsift.spark.dedup(table, id="id", threshold=0.5, shingle="word:2", hashes=64, seed=9)
    assert answer_of(result) == truth_of(documents, threshold=0.5, shingle="word:2", hashes=64, seed=9)


@pytest.mark.parametrize("keep", ["last", "longest", "score:max"])
def test_which_document_is_kept_is_as_in_the_program(spark, table, files, program, tmp_path, keep):
    """Ties included: they go to the smaller digest, then to the smaller id."""
    subprocess.run([program, "dedup", "-q", "--keep", keep, files / "documents.jsonl", "-o", tmp_path / "kept.jsonl"], check=True)
    kept = {json.loads(line)["id"] for line in open(tmp_path / "kept.jsonl", encoding="utf-8")}
    assert answer_of(twinsift.spark.dedup(table, id="id", keep=keep))[0] == kept


def test_chains(table, documents):
    assert answer_of(twinsift.spark.dedup(table, id="id", chain=True)) == truth_of(documents, chain=True)


def test_pairs_are_those_of_one_machine(table, documents):
    ids = [one for one, _, _ in documents]
    expected = {(ids[a], ids[b], s) for a, b, s in twinsift.pairs([text for _, text, _ in documents])}
    found = twinsift.spark.pairs(table, id="id")
    rows = [(row.a, row.b, row.similarity) for row in found.collect()]
    assert set(rows) == expected and len(rows) == len(expected)


def test_json_lines_are_in_the_order_of_their_file(spark, files, documents):
    lines = spark.read.schema("id string, text string").json(str(files / "documents.jsonl"))
    assert answer_of(twinsift.spark.dedup(lines, id="id")) == truth_of(documents)


def test_columns_say_the_order(spark, documents):
    """Of a DataFrame that is not read from files."""
    numbered = [(len(documents) - number, *row) for number, row in enumerate(documents)]
    random.Random(1).shuffle(numbered)
    df = spark.createDataFrame(numbered, "n int, id string, text string, score double")
    assert answer_of(twinsift.spark.dedup(df, id="id", order="n")) == truth_of(documents[::-1])
    with pytest.raises(ValueError, match="order must be given"):
        twinsift.spark.dedup(df)
    with pytest.raises(ValueError, match="order must be given"):
        twinsift.spark.dedup(df.union(df))


def test_without_ids_rows_are_named_by_their_number(table, documents):
    result = twinsift.spark.dedup(table)
    truth = twinsift.dedup([text for _, text, _ in documents])
    dropped = {row.id: row.keeper for row in result.dropped.collect()}
    assert dropped == {number: keeper for number, keeper in enumerate(truth.keeper) if keeper != number}


def test_rows_may_have_the_same_id_or_none(spark, tmp_path):
    rows = [("a", "one text that is long enough"), ("b", "another, which is different"), ("a", "third with the first's id"),
            (None, "no id"), (None, "nor here, but these are two"), ("c", "Another,  which is different")]
    spark.createDataFrame(rows, "id string, text string").coalesce(1).write.parquet(str(tmp_path / "rows"))
    result = twinsift.spark.dedup(spark.read.parquet(str(tmp_path / "rows")), id="id")
    assert sorted(row.text[:5] for row in result.kept.collect()) == ["anoth", "no id", "nor h", "one t", "third"]
    assert [tuple(row) for row in result.dropped.collect()] == [("c", "b", 1.0)]
    found = twinsift.spark.pairs(spark.read.parquet(str(tmp_path / "rows")), id="id", shingle="char:1", threshold=0.01)
    assert all((row.a, row.b) != ("a", "a") for row in found.collect())


def test_a_large_group_is_decided_on_the_local_disk(table, documents):
    result = twinsift.spark.dedup(table, id="id", group_bytes="8k", partitions=2)
    assert answer_of(result) == truth_of(documents)
    large = result.report["large_groups"]
    assert large and all(group["bytes"] > 8192 for group in large)
    assert max(group["documents"] for group in large) <= result.report["largest_group"]


@pytest.mark.parametrize("group_bytes", [1 << 30, 100_000, 1])
@pytest.mark.parametrize("at_once", [7, 1000])
def test_groups_are_whole_however_batches_fall(group_bytes, at_once):
    scheme = twinsift.Signer().scheme
    generator = random.Random(1)
    groups = sorted(generator.choice([1, 2, 3, 50, 50, 50, 50, 99]) for _ in range(900))
    texts = [" ".join(f"{word}-{group}" for word in text.split()) for text, group in zip(corpus.corpus(900, seed=3), groups)]
    table = pyarrow.table({"group": groups, "doc": range(900), "text": texts})
    found = list(_rows.Deciding(_rows.Rule(scheme, "first", group_bytes=group_bytes))(table.to_batches(at_once)))
    rows = [row for batch in found for row in batch.to_pylist()]
    decided = {row["doc"]: row["other"] for row in rows if row["doc"] is not None}
    truth = {}
    for group in set(groups):
        members = [number for number in range(900) if groups[number] == group]
        for number, keeper in enumerate(twinsift.dedup([texts[one] for one in members]).keeper):
            if keeper != number:
                truth[members[number]] = members[keeper]
    assert decided == truth
    said = [json.loads(row["statistics"]) for row in rows if row["statistics"]]
    large = [one["group"] for one in said if "group" in one]
    assert large == {1 << 30: [], 100_000: [50], 1: [1, 2, 3, 50, 99]}[group_bytes]


def test_a_run_goes_on_where_it_was_killed(table, documents, tmp_path):
    stage = str(tmp_path / "stage")
    assert answer_of(twinsift.spark.dedup(table, id="id", stage=stage)) == truth_of(documents)
    for name in ("decided", "found", "dropped_bits"):  # as if it had been killed while it decided
        for note in (tmp_path / f"stage/{name}.note").iterdir():
            note.unlink()
    signed = {path: path.stat().st_mtime_ns for path in (tmp_path / "stage/signed").iterdir()}
    again = twinsift.spark.dedup(table, id="id", stage=stage)
    assert answer_of(again) == truth_of(documents)
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "stage/signed").iterdir()} == signed
    with pytest.raises(ValueError, match="has another job"):
        twinsift.spark.dedup(table, id="id", stage=stage, threshold=0.7)


def test_signatures_and_keys_are_those_of_the_signer(table, documents):
    signer = twinsift.Signer(threshold=0.7)
    signatures = signer.sign_many([text for _, text, _ in documents])
    keys = numpy.asarray(signer.band_keys(signatures)).view(numpy.int64)
    place = {one: number for number, (one, _, _) in enumerate(documents)}
    rows = twinsift.spark.sign(table, threshold=0.7).select("id", "signature", "keys").limit(700).collect()
    for row in rows:
        assert bytes(row.signature) == bytes(signatures[place[row.id]])
        assert row["keys"] == keys[place[row.id]].tolist()


def test_an_index_is_queried(table, documents, tmp_path):
    path = tmp_path / "index.twin"
    with twinsift.Index.create(path, threshold=0.8) as index:
        index.add([one for one, _, _ in documents[:300]], [text for _, text, _ in documents[:300]])
        expected = {one: [entry.id for entry in index.query(text or "")][:3] for one, text, _ in documents[300:400]}
    rows = {row.id: row.matches for row in twinsift.spark.query(table, str(path), top=3).select("id", "matches").collect()}
    assert {one: [match.id for match in rows[one]] for one in expected} == expected


def test_values_that_make_no_sense(table):
    for keywords, words in (
        ({"text": "body"}, "has no column"), ({"keep": "best"}, "keep must be"), ({"keep": "score:most"}, "keep must be"),
        ({"partitions": 0}, "partitions must be"), ({"threshold": 2.0}, "threshold"), ({"group_bytes": "many"}, "group_bytes"),
        ({"measure": "containment"}, "jaccard"), ({"text": "score"}, "of type double, not texts"),
        ({"group_bytes": -1}, "group_bytes must be"), ({"group_bytes": None}, "group_bytes must be"),
    ):
        with pytest.raises(ValueError, match=words):
            twinsift.spark.dedup(table, **keywords)
    for function in (twinsift.spark.sign, lambda df, **keywords: twinsift.spark.query(df, "none.twin", **keywords)):
        with pytest.raises(ValueError, match='no column "body"; it has: id, text, score'):
            function(table, text="body")
    for keywords, words in (({"partitions": "many"}, "partitions must be int"), ({"keep": None}, "keep must be str")):
        with pytest.raises(TypeError, match=words):
            twinsift.spark.dedup(table, **keywords)


def test_nothing_and_nothing_but_null(spark, table):
    for df, count in ((table.limit(0), 0), (table.limit(2).selectExpr("id", "CAST(NULL AS string) AS text"), 2)):
        result = twinsift.spark.dedup(df, id="id", order="id")
        assert result.report["documents"] == result.report["kept"] == count and result.report["largest_group"] == 0
        assert (result.kept.count(), result.dropped.count()) == (count, 0)
        assert twinsift.spark.pairs(df, order="id").count() == 0


def test_what_is_made_of_results_outlives_them_and_names_may_be_odd(spark):
    df = spark.createDataFrame([(1, "A recipe for plum cake"), (2, "Bread"), (3, "a recipe for plum cake")], "n int, text string")
    odd = df.selectExpr("n", "text AS `a.text`", "n AS `the ``id`")  # names that have to be quoted
    result = twinsift.spark.dedup(odd, text="a.text", id="the `id", keep="the `id:max", order="n", partitions=2)
    assert [tuple(row) for row in result.dropped.collect()] == [(1, 3, 1.0)] and result.kept.columns == odd.columns
    kept = twinsift.spark.dedup(df, order="n", partitions=2).kept.select("n")
    pairs = twinsift.spark.pairs(df, order="n", partitions=2).where("similarity > 0.9")
    gc.collect()
    assert sorted(row.n for row in kept.collect()) == [1, 2] and pairs.count() == 1


def test_the_command_writes_the_records_that_are_kept(spark, files, program, tmp_path, capfd):
    from twinsift.spark.__main__ import main

    source = files / "documents.jsonl"
    lines = source.read_text(encoding="utf-8").splitlines(True)
    for number, part in enumerate((lines[1000:], ["not JSON\n", '{"id": "no text"}\n'], lines[:1000])):
        (tmp_path / f"{2 - number}.jsonl").write_text("".join(part), encoding="utf-8")
    inputs = [str(tmp_path / f"{number}.jsonl") for number in (0, 1, 2)]
    report = tmp_path / "report.json"
    assert main([*inputs, "-o", str(tmp_path / "out"), "--groups", str(tmp_path / "groups"), "--report", str(report)]) == 0
    kept = {line for path in (tmp_path / "out").glob("part-*") for line in path.read_text(encoding="utf-8").splitlines(True)}
    subprocess.run([program, "dedup", "-q", *inputs, "-o", tmp_path / "kept.jsonl"], check=True, stderr=subprocess.DEVNULL)
    assert kept == set((tmp_path / "kept.jsonl").read_text(encoding="utf-8").splitlines(True))
    assert json.loads(report.read_text())["skipped"] == 2
    assert "exact copies" in capfd.readouterr().err
    assert main([*inputs, "-o", str(tmp_path / "out")]) == 2  # which is there
    assert main([*inputs, str(files / "table"), "--as", "auto", "-o", str(tmp_path / "no")]) == 2


ODD_LINES = b"""
{"id":"a","text":"the first of two texts that are nearly equal, number one"}
{"id":"b","text":"the first of two texts that are nearly equal, number one!"}
{"id":"c","text":12345678901234567}
{"id":"d","text":12345678901234567}
{"id":"e","text":{"x":"a nested object as text that is long"}}
{"id":"f","text":["a list of texts, which is no text"]}
{"id":"g","text":null}
{"id":7,"text":"number seven has a text of its own here"}
{"id":"7","text":"the string seven has another text of its own"}
{"id":7.0,"text":"seven point nought is a third one of these"}
{"id":true,"text":"an id that is true, with some text beside"}
{"id":null,"text":"an id that is null, with other words beside"}
{"id":["x"],"text":"an id that is a list, and something more to read"}
{"id":"i","text":"lone \\ud800 surrogate in a text"}
{"id":"j","text":"lone ? surrogate in a text"}
{"id":"k","text":"twice","text":"the second of two fields of that name is longer"}
{"id":"l","text":"the second of two fields of that name is longer"}
{"text":"no id at all in this line, which is taken"}
 {"id":"n","text":"blanks before the object"}
{"id":"o","text":"tail"} {"id":"p"}
[{"id":"q","text":"an array"}]
{"id":"r","text":"a tab\tinside of a string is not JSON, strictly"}
{"id":"s","text":"\\u0000 nul and \\u00e9"}
{'id':'t','text':'single quotes are not JSON at all'}
{"id":"u","text":"not a number, beside","score":NaN}
{"id":"","text":"an empty id, which is a string"}
{"id":"","text":"an empty id again, with other words in it"}
{"id":"v","text":"ill \xff formed bytes in this one"}
{"id":"w","text":"ill \xef\xbf\xbd formed bytes in this one"}
{"id":"x","text":"a line that ends as on other systems"}\r
{"id":"y",\r"text":"a line with a return between two of its fields"}
{"id":"z","m":{"text":"nested"},"text":"the last line has no end"}"""


@pytest.mark.parametrize("options", [[], ["--text-field", "m.text,text"]])
def test_odd_lines_are_read_as_the_program_reads_them(spark, program, tmp_path, options):
    from twinsift.spark.__main__ import main

    (tmp_path / "odd.jsonl").write_bytes(ODD_LINES)
    report, groups = tmp_path / "report.json", tmp_path / "groups"
    files = ["--groups", str(groups), "--report", str(report)]
    assert main([str(tmp_path / "odd.jsonl"), "-o", str(tmp_path / "out"), *options, *files]) == 0
    done = subprocess.run(
        [program, "dedup", "--stats", "-q", *options, tmp_path / "odd.jsonl", "-o", tmp_path / "kept.jsonl"],
        check=True, capture_output=True, text=True,
    )
    kept = [line for path in (tmp_path / "out").glob("part-*") for line in path.read_bytes().splitlines(True)]
    assert sorted(kept) == sorted((tmp_path / "kept.jsonl").read_bytes().splitlines(True))
    ours, theirs = json.loads(report.read_text()), json.loads(done.stderr.splitlines()[-1])["stats"]
    for count in ("documents", "kept", "skipped", "exact_copies", "near_copies"):
        assert ours[count] == theirs[count], count


VALUES = ["5", "-3", "1e3", "0.5", "9007199254740993", "9007199254740992", "true", "null", "[7]", '"5.5"', '" 7"', '"7 "',
          '"2026-11-15"', '"2026-11-14T10:00"', '"abc"', '"ab"', '""', '"nan"', '"1_000"', '"\u00e9"', ""]


@pytest.mark.parametrize("which", ["max", "min"])
def test_values_of_any_kind_are_compared_as_in_the_program(spark, program, tmp_path, which):
    from twinsift.spark.__main__ import main

    generator = random.Random(4)
    with open(tmp_path / "values.jsonl", "w", encoding="utf-8") as lines:
        for number in range(300):
            text = corpus.document(generator, 30)
            for one in generator.sample(VALUES, 2):
                score = f', "score": {one}' if one else ""
                lines.write(f'{{"id": {generator.randrange(10**6)}, "text": "{text}"{score}}}\n')
    assert main([str(tmp_path / "values.jsonl"), "-o", str(tmp_path / "out"), "--keep", f"score:{which}", "-q"]) == 0
    subprocess.run([program, "dedup", "-q", "--keep", f"score:{which}", tmp_path / "values.jsonl", "-o", tmp_path / "kept.jsonl"], check=True)
    kept = [line for path in (tmp_path / "out").glob("part-*") for line in path.read_bytes().splitlines(True)]
    assert sorted(kept) == sorted((tmp_path / "kept.jsonl").read_bytes().splitlines(True))


def test_the_latest_is_kept(spark):
    texts = ["a recipe for plum cake"] * 5 + ["news from the harbour"] * 5
    df = spark.createDataFrame(list(enumerate(texts)), "n int, text string")
    dated = df.selectExpr("n", "text", "date_add(date'2026-09-28', n) AS day")
    result = twinsift.spark.dedup(dated, order="n", keep="day:max", partitions=2)
    assert sorted(row.n for row in result.kept.collect()) == [4, 9]


def blocks_of(page):
    path = pathlib.Path(__file__).parent.parent.parent.parent / "docs" / page
    return re.findall(r"```python\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL)


def test_the_examples_of_the_docstring_and_of_the_page_run(spark):
    assert doctest.testmod(twinsift.spark).failed == 0
    for code in blocks_of("spark.md"):
        exec(code, {})


def test_spark_starts_the_commands_of_the_program(spark, files, program, tmp_path, monkeypatch):
    lines = (files / "documents.jsonl").read_text(encoding="utf-8").splitlines(True)
    for number in range(3):
        part = lines[number * 600 : (number + 1) * 600]
        (tmp_path / f"part-{number}.jsonl").write_text("".join(part), encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["example", str(tmp_path), "2"])
    [code] = blocks_of("scale.md")
    exec(code.replace("twinsift ", f"{program} "), {"__name__": "example"})
    subprocess.run([program, "dedup", "-q", *sorted(tmp_path.glob("*.jsonl")), "-o", f"{tmp_path}/one/"], check=True)
    for path in (tmp_path / "one").iterdir():
        assert (tmp_path / "clean" / path.name).read_bytes() == path.read_bytes()
