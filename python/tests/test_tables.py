"""python -m twinsift: tables in, the same rows and columns out."""
import gzip
import json
import subprocess
import sys

import pytest

import twinsift

COLUMNS = ("id", "text", "score", "zip")


@pytest.fixture
def rows(texts):
    return [{"id": i, "text": text, "score": (7 * i) % 11, "zip": f"{i:05}"} for i, text in enumerate(texts)]


def run(folder, *arguments, blocked=()):
    """The command in a process in which some modules are not installed."""
    script = f"import sys; sys.modules.update(dict.fromkeys({list(blocked)!r})); from twinsift.__main__ import main; sys.exit(main())"
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False, timeout=120)


def write(path, rows):
    """A table by pyarrow, or JSON lines."""
    if ".jsonl" in path.name:
        with (gzip.open if path.suffix == ".gz" else open)(path, "wt") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
        return
    arrow = pytest.importorskip("pyarrow")
    table = arrow.table({name: [row[name] for row in rows] for name in COLUMNS}).replace_schema_metadata({"by": "a test"})
    if path.suffix == ".parquet":
        pytest.importorskip("pyarrow.parquet").write_table(table, path, row_group_size=50)
    elif path.suffix == ".feather":
        pytest.importorskip("pyarrow.feather").write_feather(table, path)
    else:
        pytest.importorskip("pyarrow.csv").write_csv(table, path)


def read(path):
    if ".jsonl" in path.name:
        with (gzip.open if path.suffix == ".gz" else open)(path, "rt") as file:
            return list(map(json.loads, file))
    if path.suffix == ".parquet":
        return pytest.importorskip("pyarrow.parquet").read_table(path).to_pylist()
    if path.suffix == ".feather":
        return pytest.importorskip("pyarrow.feather").read_table(path).to_pylist()
    import csv

    with open(path, newline="") as file:
        return [{**row, "id": int(row["id"]), "score": int(row["score"])} for row in csv.DictReader(file)]


@pytest.mark.parametrize("name", ["x.parquet", "x.feather", "x.csv", "x.jsonl", "x.jsonl.gz"])
def test_the_kept_rows_come_back_with_all_columns(tmp_path, rows, name):
    write(tmp_path / name, rows)
    done = run(tmp_path, "dedup", name, "-o", "out." + name, "--threshold", "0.7")
    assert done.returncode == 0, done.stderr
    kept = twinsift.dedup([row["text"] for row in rows], threshold=0.7).kept
    assert read(tmp_path / ("out." + name)) == [rows[i] for i in kept]
    assert f"{len(kept)} kept" in done.stderr


def test_parquet_keeps_its_schema_and_is_streamed(tmp_path, rows):
    parquet = pytest.importorskip("pyarrow.parquet")
    write(tmp_path / "a.parquet", rows[:150])
    write(tmp_path / "b.parquet", rows[150:])
    done = run(tmp_path, "dedup", "a.parquet", "b.parquet", "-o", "out.parquet", "--quiet")
    assert done.returncode == 0 and done.stderr == ""
    assert parquet.read_schema(tmp_path / "out.parquet").equals(parquet.read_schema(tmp_path / "a.parquet"), check_metadata=True)
    kept = twinsift.dedup([row["text"] for row in rows]).kept
    assert [row["id"] for row in read(tmp_path / "out.parquet")] == kept.tolist()


@pytest.mark.parametrize("name", ["x.parquet", "x.csv"])
def test_duckdb_alone_does_as_well(tmp_path, rows, name):
    pytest.importorskip("duckdb")
    write(tmp_path / name, rows)
    done = run(tmp_path, "dedup", name, "-o", "out." + name, "--keep", "score:max", blocked=["pyarrow"])
    assert done.returncode == 0, done.stderr
    scores = twinsift.ranks([row["score"] for row in rows], largest=True)
    kept = twinsift.dedup([row["text"] for row in rows], rank=scores).kept
    assert read(tmp_path / ("out." + name)) == [rows[i] for i in kept]


@pytest.mark.parametrize("blocked", [[], ["pyarrow"]])
def test_a_csv_file_may_have_long_texts_and_strings_only(tmp_path, blocked):
    """Longer than the blocks in which it is read; nothing is taken for a number, and the first row for names."""
    pytest.importorskip("duckdb" if blocked else "pyarrow")
    long = "a long text " * 200_000
    (tmp_path / "x.csv").write_text(f'name,text\na,"{long}"\nb,007\nc,"{long}"\n', encoding="utf-8")
    done = run(tmp_path, "dedup", "x.csv", "-o", "y.csv", blocked=blocked)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "y.csv").read_text(encoding="utf-8").replace('"', "")
    assert text == f"name,text\na,{long}\nb,007\n"


def test_feather_files_may_have_different_dictionaries(tmp_path):
    arrow, feather = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.feather")
    for name, words in (("a", ["x", None, "y"]), ("b", ["z", "x", "z"])):
        table = arrow.table({"text": [f"text {name} number {i}" for i in range(3)], "kind": arrow.array(words).dictionary_encode()})
        feather.write_feather(table, tmp_path / f"{name}.feather")
    done = run(tmp_path, "dedup", "a.feather", "b.feather", "-o", "out.feather")
    assert done.returncode == 0, done.stderr
    found = feather.read_table(tmp_path / "out.feather")
    assert found["kind"].to_pylist() == ["x", None, "y", "z", "x", "z"]
    assert found.schema.equals(feather.read_table(tmp_path / "a.feather").schema)


def test_lines_that_are_not_quite_text_are_repaired_as_the_program_does(tmp_path):
    lines = [rb'{"text": "half a pair: \ud83d, the rest is lost"}', b'{"text": "half a pair: \xff, the rest is lost"}']
    (tmp_path / "x.jsonl").write_bytes(b"\n".join(lines))
    done = run(tmp_path, "dedup", "x.jsonl", "-o", "y.jsonl")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "y.jsonl").read_bytes() == lines[0] + b"\n"


def test_lines_that_the_program_skips_are_skipped(tmp_path, rows, program):
    """Wherever they are; a record may lack the field that says which is kept."""
    odd = ["not JSON", "", '{"id": 1}', '{"text": 5}', '{"text": null}', "[1]", '{"text": "a text", "score": NaN}', '{"text": "lonely"}']
    write(tmp_path / "a.jsonl", rows[:100])
    with open(tmp_path / "b.jsonl", "w", encoding="utf-8") as file:
        file.writelines(line + "\n" + json.dumps(row) + "\n" for line, row in zip(odd, rows[100:]))
    names = ["a.jsonl", "b.jsonl"]
    done = run(tmp_path, "dedup", *names, "-o", "y.jsonl", "--keep", "score:max", "--groups", "g.jsonl", "--id", "id")
    assert done.returncode == 0 and "b.jsonl:1: " in done.stderr and "6 records without a text" in done.stderr, done.stderr
    subprocess.run([program, "dedup", "-q", "--keep", "score:max", *names, "-o", "z.jsonl"], cwd=tmp_path, check=True)
    assert (tmp_path / "y.jsonl").read_bytes() == (tmp_path / "z.jsonl").read_bytes()
    done = run(tmp_path, "pairs", "a.jsonl", "-o", "p.jsonl", "--against", "b.jsonl", "--id", "id", "--threshold", "0.6")
    assert done.returncode == 0, done.stderr
    found = twinsift.pairs([row["text"] for row in rows[:100]], against=[row["text"] for row in rows[100:108]], threshold=0.6)
    expected = [(a, b + 100) for a, b, _ in found]
    assert [(one["a"], one["b"]) for one in read(tmp_path / "p.jsonl") if one["b"] is not None] == expected


@pytest.mark.parametrize("blocked", [[], ["pyarrow"]])
def test_a_damaged_file_is_named(tmp_path, rows, blocked):
    pytest.importorskip("duckdb")
    write(tmp_path / "x.parquet", rows)
    good = (tmp_path / "x.parquet").read_bytes()
    for damaged in (good[: len(good) // 2], good[:3000] + bytes(900) + good[3900:]):
        (tmp_path / "x.parquet").write_bytes(damaged)
        done = run(tmp_path, "dedup", "x.parquet", "-o", "y.parquet", blocked=blocked)
        assert done.returncode == 2 and "x.parquet" in done.stderr and "Traceback" not in done.stderr, done.stderr
    assert [one.name for one in tmp_path.iterdir()] == ["x.parquet"]


def test_what_is_missing_is_said(tmp_path, rows):
    write(tmp_path / "x.parquet", rows)
    done = run(tmp_path, "dedup", "x.parquet", "-o", "y.parquet", blocked=["pyarrow", "duckdb"])
    assert done.returncode == 2 and "install pyarrow (pip install pyarrow) or duckdb" in done.stderr


@pytest.mark.parametrize("arguments, words", [
    (["none.parquet", "-o", "y.parquet"], "No such file"),
    (["x.jsonl", "-o", "y.parquet"], "must be of one kind"),
    (["x.txt", "-o", "y.txt"], "is not a table by its name"),
    (["x.jsonl", "-o", "y.jsonl", "--column", "body"], 'x.jsonl:1: has no text in "body"'),
    (["x.jsonl", "-o", "y.jsonl", "--keep", "score:most"], "expected COLUMN:max or COLUMN:min"),
    (["x.jsonl", "-o", "y.jsonl", "--threshold", "7"], "threshold"),
    (["bad.jsonl", "-o", "y.jsonl"], "bad.jsonl:1: Expecting"),
    (["x.jsonl", "-o", "none/y.jsonl"], "none"),
])
def test_mistakes_end_with_a_sentence_and_no_output(tmp_path, rows, arguments, words):
    write(tmp_path / "x.jsonl", rows)
    (tmp_path / "bad.jsonl").write_text("{]\n")
    done = run(tmp_path, "dedup", *arguments)
    assert done.returncode == 2 and words in done.stderr and "Traceback" not in done.stderr
    assert sorted(one.name for one in tmp_path.iterdir()) == ["bad.jsonl", "x.jsonl"]


def test_pairs_and_groups_are_tables_of_ids(tmp_path, rows):
    write(tmp_path / "x.jsonl", rows)
    expected = list(twinsift.pairs([row["text"] for row in rows], threshold=0.6))
    for name in ("pairs.jsonl", "pairs.csv", "pairs.parquet"):
        if name.endswith("parquet"):
            pytest.importorskip("pyarrow")
        done = run(tmp_path, "pairs", "x.jsonl", "-o", name, "--threshold", "0.6", "--id", "zip")
        assert done.returncode == 0, done.stderr
    assert [(int(one["a"]), int(one["b"]), one["similarity"]) for one in read(tmp_path / "pairs.jsonl")] == expected
    done = run(tmp_path, "dedup", "x.jsonl", "-o", "y.jsonl", "--groups", "groups.jsonl")
    assert done.returncode == 0, done.stderr
    keeper = twinsift.dedup([row["text"] for row in rows]).keeper
    groups = read(tmp_path / "groups.jsonl")
    assert groups and all(keeper[one["dropped"]] == one["kept"] for one in groups)


def test_what_another_table_has_is_dropped(tmp_path, rows):
    write(tmp_path / "new.jsonl", rows[:100])
    write(tmp_path / "old.jsonl", rows[100:])
    done = run(tmp_path, "dedup", "new.jsonl", "-o", "y.jsonl", "--against", "old.jsonl")
    assert done.returncode == 0, done.stderr
    expected = twinsift.dedup([row["text"] for row in rows[:100]], against=[row["text"] for row in rows[100:]]).kept
    assert [row["id"] for row in read(tmp_path / "y.jsonl")] == expected.tolist()
