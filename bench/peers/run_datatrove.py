"""datatrove: its four MinHash stages with two local workers, 14 bands of 8 as installed, no normalisation of its own."""
import glob
import json
import os
import tempfile

import shared
from datatrove.executor.local import LocalPipelineExecutor
from datatrove.pipeline.dedup import MinhashDedupBuckets, MinhashDedupCluster, MinhashDedupFilter, MinhashDedupSignature
from datatrove.pipeline.dedup.minhash import MinhashConfig
from datatrove.pipeline.readers import JsonlReader
from datatrove.pipeline.writers.jsonl import JsonlWriter
from datatrove.utils.text import TextNormConfig

TASKS = 2


def run(tasks, *steps):
    LocalPipelineExecutor(pipeline=list(steps), tasks=tasks, workers=TASKS).run()


def main(folder):
    same = TextNormConfig(norm_unicode_diacritics=False, norm_numbers=False, norm_weekdays=False, norm_monthnames=False)
    config = MinhashConfig(n_grams=shared.WIDTH, num_buckets=14, hashes_per_bucket=8, norm_config=same)
    parts = [open(f"{folder}/in/{i}.jsonl", "w", encoding="utf-8") for i in range(TASKS)]
    with open(shared.PATH, encoding="utf-8") as file:
        for number, line in enumerate(file):
            parts[number % TASKS].write(line)
    for part in parts:
        part.close()
    run(TASKS, JsonlReader(folder + "/in"), MinhashDedupSignature(folder + "/signatures", config))
    run(14, MinhashDedupBuckets(folder + "/signatures", folder + "/buckets", config=config))
    run(1, MinhashDedupCluster(folder + "/buckets", folder + "/remove", config=config))
    run(
        TASKS,
        JsonlReader(folder + "/in"),
        MinhashDedupFilter(folder + "/remove", exclusion_writer=JsonlWriter(folder + "/removed", compression=None)),
        JsonlWriter(folder + "/out", compression=None),
    )
    for path in sorted(glob.glob(folder + "/removed/*")):
        with open(path, encoding="utf-8") as file:
            shared.print_ids(json.loads(line)["id"] for line in file)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        os.mkdir(scratch + "/in")
        os.chdir(scratch)
        main(scratch)
