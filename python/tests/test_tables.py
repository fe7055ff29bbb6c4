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


def test_what_is_missing_is_said(tmp_path, rows):
    write(tmp_path / "x.parquet", rows)
    done = run(tmp_path, "dedup", "x.parquet", "-o", "y.parquet", blocked=["pyarrow", "duckdb"])
    assert done.returncode == 2 and "install pyarrow (pip install pyarrow) or duckdb" in done.stderr


@pytest.mark.parametrize("arguments, words", [
    (["none.parquet", "-o", "y.parquet"], "No such file"),
    (["x.jsonl", "-o", "y.parquet"], "must be of one kind"),
    (["x.txt", "-o", "y.txt"], "is not a table by its name"),
    (["x.jsonl", "-o", "y.jsonl", "--column", "body"], 'no field "body"'),
    (["x.jsonl", "-o", "y.jsonl", "--keep", "score:most"], "expected COLUMN:max or COLUMN:min"),
    (["x.jsonl", "-o", "y.jsonl", "--threshold", "7"], "threshold"),
    (["bad.jsonl", "-o", "y.jsonl"], "record 1 is not JSON"),
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
