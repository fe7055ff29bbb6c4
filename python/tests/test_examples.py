"""The examples of the documentation, each in a namespace of its own; where what it imports is not installed, skipped."""
import json
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parent.parent.parent


def examples():
    for page in ("python.md", "coming-from.md"):
        path = ROOT / "docs" / page
        blocks = re.findall(r"```python\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL)
        for number, code in enumerate(blocks):
            name = re.findall(r"^import (\w+)", code, re.MULTILINE)[0]
            yield pytest.param(code, id=f"{page} {number + 1}: {name}")


@pytest.mark.parametrize("code", list(examples()))
def test_an_example_runs(code):
    for name in re.findall(r"^import (\w+)", code, re.MULTILINE):
        pytest.importorskip(name)
    exec(compile(code, "example", "exec"), {"__name__": "example"})


def test_duckdb_feeds_the_program_through_a_pipe(tmp_path, texts, program):
    """The pipe of the manual page of dedup, with the module in place of DuckDB's program."""
    pytest.importorskip("duckdb")
    parquet = pytest.importorskip("pyarrow.parquet")
    import pyarrow

    parquet.write_table(pyarrow.table({"id": range(len(texts)), "text": texts}), tmp_path / "corpus.parquet")
    page = (ROOT / "docs" / "twinsift-dedup.1.md").read_text(encoding="utf-8")
    query = re.search(r'duckdb -c "(COPY .*?)"', page, re.DOTALL).group(1)
    feed = subprocess.run(
        [sys.executable, "-c", "import duckdb, sys; duckdb.execute(sys.argv[1])", " ".join(query.split())],
        cwd=tmp_path, capture_output=True, check=True,
    )
    done = subprocess.run([program, "dedup", "--quiet", "-"], input=feed.stdout, capture_output=True, check=True)
    (tmp_path / "kept.jsonl").write_bytes(done.stdout)
    back = re.search(r'duckdb -c "(COPY [^"]*kept\.parquet[^"]*)"', page).group(1)
    subprocess.run([sys.executable, "-c", "import duckdb, sys; duckdb.execute(sys.argv[1])", " ".join(back.split())], cwd=tmp_path, check=True)
    kept = [json.loads(line)["id"] for line in done.stdout.splitlines()]
    assert kept and sorted(parquet.read_table(tmp_path / "kept.parquet")["id"].to_pylist()) == kept
