"""Measures for spark.sh: spark.py FOLDER PROGRAM LINES... : CORPUS.jsonl of so many documents each, in FOLDER.

Prints lines "what<TAB>seconds": CPU of the whole tree of processes, the JVM and the workers of Python included, of runs
in one session: twinsift.spark over Parquet, kept rows written, the first time and warm; the program over JSON lines; and
for the first corpus the join of MLlib's MinHashLSH, with the recall of both.
"""
import collections
import glob
import json
import os
import re
import subprocess
import sys
import time

os.environ["PYSPARK_PYTHON"] = sys.executable

from pyspark.ml.feature import HashingTF, MinHashLSH, NGram, RegexTokenizer
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import twinsift
import twinsift.spark

RUNS = int(os.environ.get("BENCH_RUNS", "2"))
folder, program = sys.argv[1], sys.argv[2]
memory = os.environ.get("BENCH_SPARK_MEMORY", "4g")
spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.driver.memory", memory)
spark = spark.config("spark.ui.showConsoleProgress", "false").getOrCreate()
spark.sparkContext.setLogLevel("ERROR")


def cpu_seconds():
    """Of this process and all below it, those that have ended included."""
    own, children = {}, collections.defaultdict(list)
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(path, encoding="latin-1") as file:
                words = file.read()
        except OSError:
            continue
        fields = words[words.rindex(")") + 2 :].split()
        pid = int(words.split()[0])
        own[pid] = sum(map(int, fields[11:15]))
        children[int(fields[1])].append(pid)
    total, todo = 0, [os.getpid()]
    while todo:
        pid = todo.pop()
        total += own.get(pid, 0)
        todo += children[pid]
    return total / os.sysconf("SC_CLK_TCK")


def measured(call):
    cpu, wall = cpu_seconds(), time.monotonic()
    result = call()
    return cpu_seconds() - cpu, time.monotonic() - wall, result


def by_spark(df):
    result = twinsift.spark.dedup(df, id="id")
    result.kept.write.mode("overwrite").parquet(f"{folder}/kept.parquet")
    return result


def corpus(name):
    frame = spark.read.schema("id string, text string").json(f"{folder}/{name}.jsonl")
    frame.write.mode("overwrite").option("compression", "zstd").parquet(f"{folder}/{name}.parquet")
    return spark.read.parquet(f"{folder}/{name}.parquet")


def deduplication(name):
    df = corpus(name)
    times = [measured(lambda: by_spark(df)) for _ in range(1 + RUNS)]
    print(f"spark, {name}, first run\t{times[0][0]:.2f}")
    cpu, wall, result = min(times[1:], key=lambda one: one[0])
    print(f"spark, {name}, warm\t{cpu:.2f}\nspark, {name}, warm, wall\t{wall:.2f}", flush=True)
    command = [program, "dedup", "--quiet", f"{folder}/{name}.jsonl", "-o", f"{folder}/kept.jsonl"]
    ours = min(measured(lambda: subprocess.run(command, check=True))[0] for _ in range(3))
    print(f"program, {name}\t{ours:.2f}", flush=True)
    print(json.dumps(dict(result.report)), file=sys.stderr)
    with open(f"{folder}/kept.jsonl", encoding="utf-8") as file:
        kept = [json.loads(line)["id"] for line in file]
    assert sorted(kept) == sorted(row.id for row in spark.read.parquet(f"{folder}/kept.parquet").select("id").collect())
    return df


def mllib(df):
    """The similar pairs by MinHashLSH, from the text on: its own parts, as its documentation joins them."""
    text = df.select("id", F.lower(F.regexp_replace("text", r"\s+", " ")).alias("text")).where("length(text) >= 9")
    letters = RegexTokenizer(inputCol="text", outputCol="letters", pattern="(?s).", gaps=False, toLowercase=False)
    shingles = NGram(n=9, inputCol="letters", outputCol="shingles")
    vectors = HashingTF(inputCol="shingles", outputCol="features", numFeatures=1 << 22, binary=True)
    frame = vectors.transform(shingles.transform(letters.transform(text))).select("id", "features").cache()
    model = MinHashLSH(inputCol="features", outputCol="hashes", numHashTables=3, seed=1).fit(frame)
    joined = model.approxSimilarityJoin(frame, frame, 0.2, "distance").where("datasetA.id < datasetB.id")
    return {(row.a, row.b) for row in joined.selectExpr("datasetA.id AS a", "datasetB.id AS b").collect()}


def ours(df):
    return {tuple(sorted((row.a, row.b))) for row in twinsift.spark.pairs(df, id="id", shingle="char:9").collect()}


def peers(name):
    df = spark.read.parquet(f"{folder}/{name}.parquet").dropDuplicates(["text"])
    df.coalesce(1).write.mode("overwrite").parquet(f"{folder}/distinct.parquet")
    df = spark.read.parquet(f"{folder}/distinct.parquet")
    rows = df.collect()
    exact = twinsift.pairs([row.text for row in rows], shingle="char:9", bands=128, rows=1)
    truth = {tuple(sorted((rows[a].id, rows[b].id))) for a, b, _ in exact}
    ours(df)
    cpu, _, found = measured(lambda: ours(df))
    print(f"pairs by spark, {name}\t{cpu:.2f}\nrecall, spark\t{len(truth & found) / len(truth):.4f}", flush=True)
    cpu, _, found = measured(lambda: mllib(df))
    print(f"pairs by MLlib, {name}\t{cpu:.2f}\nrecall, MLlib\t{len(truth & found) / len(truth):.4f}", flush=True)


names = sys.argv[3:]
for number, each in enumerate(names):
    assert re.fullmatch(r"\d+", each)
    deduplication(each)
    if number == 0:
        peers(each)
