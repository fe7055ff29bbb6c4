"""Large collections on a real cluster, with workers that are killed: TWINSIFT_SPARK_LARGE=1, or `make test-spark`."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import pytest

pytest.importorskip("pyspark")
pytestmark = pytest.mark.skipif(not os.environ.get("TWINSIFT_SPARK_LARGE"), reason="make test-spark runs it")

DRIVER = """
import json, sys
from pyspark.sql import SparkSession
import twinsift.spark
source, folder, keywords = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
spark = SparkSession.builder.getOrCreate()
spark.sparkContext.setLogLevel("WARN")
df = spark.read.parquet(source) if source.endswith(".parquet") else spark.read.schema("id string, text string").json(source)
result = twinsift.spark.dedup(df, id="id", stage=folder + "/stage", **keywords)
result.kept.select("id").write.parquet(folder + "/kept")
result.dropped.write.parquet(folder + "/dropped")
print(json.dumps(result.report))
"""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    if not (shutil.which("java") or os.environ.get("JAVA_HOME")):
        pytest.skip("Java is not there")
    sys.path.insert(0, os.path.dirname(__file__))
    from cluster import Cluster

    one = Cluster(tmp_path_factory.mktemp("cluster"))
    yield one
    one.close()


@pytest.fixture(scope="module")
def collections(program, tmp_path_factory):
    """Makes a collection of options of twinsift-generate, a list, or of texts, a tuple, once, with the program's answer."""
    import pyarrow
    import pyarrow.parquet

    folder, made = tmp_path_factory.mktemp("collections"), {}
    generator = os.environ.get("TWINSIFT_GENERATE") or str(pathlib.Path(program).parent / "twinsift-generate")

    def make(name, source):
        if name not in made:
            path = folder / f"{name}.jsonl"
            with open(path, "w", encoding="utf-8") as file:
                if isinstance(source, list):
                    subprocess.run([generator, *source], stdout=file, check=True)
                else:
                    file.writelines(json.dumps({"id": f"d{number}", "text": text}) + "\n" for number, text in enumerate(source))
            subprocess.run(
                [program, "dedup", "-q", path, "-o", folder / f"{name}.kept", "--groups", folder / f"{name}.groups"], check=True
            )
            with open(path, encoding="utf-8") as file:
                rows = [json.loads(line) for line in file]
            table = pyarrow.table({"id": [str(row["id"]) for row in rows], "text": [row["text"] for row in rows]})
            pyarrow.parquet.write_table(table, folder / f"{name}.parquet", row_group_size=10_000)
            made[name] = truth_of(folder / f"{name}.kept", folder / f"{name}.groups")
        return folder, made[name]

    return make


def truth_of(kept, groups):
    with open(kept, encoding="utf-8") as file:
        ids = {json.loads(line)["id"] for line in file}
    with open(groups, encoding="utf-8") as file:
        found = [(group["kept"], one) for group in map(json.loads, file) for one in group["dropped"]]
    return ids, {one["id"]: (keeper, one["similarity"]) for keeper, one in found}


def answer_of(folder):
    import pyarrow.parquet

    kept = pyarrow.parquet.read_table(folder / "kept")["id"].to_pylist()
    dropped = pyarrow.parquet.read_table(folder / "dropped").to_pylist()
    assert len(kept) == len(set(kept)) and len(dropped) == len({row["id"] for row in dropped})
    return set(kept), {row["id"]: (row["keeper"], round(row["similarity"], 4)) for row in dropped}


def run(cluster, source, folder, kill_in=None, **keywords):
    """The report of a run; a worker is killed when the stage of that name has begun, and another one started."""
    folder.mkdir(exist_ok=True)
    driver = cluster.submit(DRIVER, source, folder, json.dumps(keywords))
    begin = time.monotonic()
    while kill_in and driver.poll() is None and time.monotonic() - begin < 300:
        if (folder / f"stage/{kill_in}/_temporary").exists():
            time.sleep(0.3)
            cluster.kill_worker()
            cluster.add_worker()
            kill_in = None
        time.sleep(0.02)
    output, _ = driver.communicate(timeout=1200)
    assert driver.returncode == 0, (cluster.folder / "driver.log").read_text()[-4000:]
    assert kill_in is None
    return json.loads(output.strip().splitlines()[-1])


ALL_KINDS = ["--docs", "100000", "--bytes", "800", "--same", "2000", "--families", "10:100", "--forms", "5:2000", "--short", "2000",
             "--long", "3:300000"]


def test_documents_of_all_kinds(cluster, collections, tmp_path):
    folder, truth = collections("all", ALL_KINDS)
    report = run(cluster, folder / "all.parquet", tmp_path / "run")
    print(json.dumps(report))
    assert report["documents"] == 100_000
    assert answer_of(tmp_path / "run") == truth


@pytest.mark.parametrize("stage", ["signed", "edges", "decided"])
def test_a_worker_is_killed(cluster, collections, tmp_path, stage):
    folder, truth = collections("all", ALL_KINDS)
    run(cluster, folder / "all.parquet", tmp_path / "run", kill_in=stage, partitions=7)
    assert answer_of(tmp_path / "run") == truth


def test_a_driver_is_killed_and_started_again(cluster, collections, tmp_path):
    """It goes on behind the stage that was finished."""
    folder, truth = collections("all", ALL_KINDS)
    stage = tmp_path / "run/stage"
    stage.parent.mkdir()
    driver = cluster.submit(DRIVER, folder / "all.parquet", tmp_path / "run", "{}")
    begin = time.monotonic()
    while not (stage / "edges/_temporary").exists():
        assert driver.poll() is None and time.monotonic() - begin < 600
        time.sleep(0.05)
    os.killpg(driver.pid, signal.SIGKILL)
    driver.wait()
    signed = {path: path.stat().st_mtime_ns for path in (stage / "signed").iterdir()}
    assert not (tmp_path / "run/kept").exists()
    run(cluster, folder / "all.parquet", tmp_path / "run")
    assert answer_of(tmp_path / "run") == truth
    assert {path: path.stat().st_mtime_ns for path in (stage / "signed").iterdir()} == signed


def test_two_hundred_partitions_of_json_lines(cluster, collections, tmp_path):
    folder, truth = collections("all", ALL_KINDS)
    run(cluster, folder / "all.jsonl", tmp_path / "run", partitions=200)
    assert answer_of(tmp_path / "run") == truth


def test_equal_documents(cluster, collections, tmp_path):
    folder, truth = collections("equal", ["--docs", "50000", "--bytes", "500", "--same", "50000"])
    run(cluster, folder / "equal.parquet", tmp_path / "run")
    assert answer_of(tmp_path / "run") == truth


def test_documents_of_one_template(cluster, collections, tmp_path):
    """Also with so little memory that the group goes to the disk."""
    folder, truth = collections("form", ["--docs", "50000", "--bytes", "500", "--forms", "1:50000"])
    report = run(cluster, folder / "form.parquet", tmp_path / "run", group_bytes="8m")
    print(json.dumps(report))
    assert answer_of(tmp_path / "run") == truth
    assert report["large_groups"]


def test_a_chain(cluster, collections, tmp_path):
    """Each document is similar to the next few only."""
    words = [f"w{number * 2654435761 % 1000003:06d}" for number in range(10_400)]
    folder, truth = collections("chain", tuple(" ".join(words[number : number + 60]) for number in range(10_000)))
    report = run(cluster, folder / "chain.parquet", tmp_path / "run", partitions=7)
    assert answer_of(tmp_path / "run") == truth
    assert report["largest_group"] == 10_000


def test_a_text_of_fifty_megabytes(cluster, collections, tmp_path):
    import random

    generator = random.Random(3)
    long = " ".join(f"w{generator.randrange(10**9)}" for _ in range(4_700_000))
    assert len(long) > 50_000_000
    folder, truth = collections("long", (long, "a short text, beside it", long[:-2000]))
    run(cluster, folder / "long.parquet", tmp_path / "run")
    assert answer_of(tmp_path / "run") == truth


def test_the_package_is_shipped_as_an_archive(cluster, collections, tmp_path):
    """The installed folder, packed, comes along and is what executors import."""
    import twinsift

    package = pathlib.Path(twinsift.__file__).parent
    archive = shutil.make_archive(str(tmp_path / "twinsift"), "zip", package.parent, package.name)
    folder, truth = collections("small", ["--docs", "2000"])
    bare = tmp_path / "bare"
    bare.mkdir()
    where = "spark.sparkContext.parallelize([0], 1).map(lambda _: __import__('twinsift').__file__).first()"
    driver = cluster.submit(
        DRIVER + f"assert '/packages/' in {where}, {where}\n", folder / "small.parquet", bare, "{}",
        options=["--archives", f"{archive}#packages", "--conf", "spark.executorEnv.PYTHONPATH=packages"],
    )
    output, _ = driver.communicate(timeout=600)
    assert driver.returncode == 0 and json.loads(output.strip().splitlines()[-1])["documents"] == 2000
    assert answer_of(bare) == truth
