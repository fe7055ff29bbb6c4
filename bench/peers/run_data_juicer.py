"""Data-Juicer: its MinHash deduplicator, on both processors, as it plans for the threshold; what is not kept is removed."""
import contextlib
import os
import sys
import tempfile

import datasets
import shared
from data_juicer.core.data import NestedDataset
from data_juicer.ops.deduplicator.document_minhash_deduplicator import DocumentMinhashDeduplicator

with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(sys.stderr):
    lines = datasets.load_dataset("json", data_files=shared.PATH, split="train", cache_dir=folder)
    tokenization = "space" if shared.KIND == "word" else "character"
    minhash = DocumentMinhashDeduplicator(
        tokenization=tokenization, window_size=shared.WIDTH, num_permutations=128, jaccard_threshold=shared.THRESHOLD
    )
    signed = NestedDataset(lines).map(minhash.compute_hash, num_proc=os.cpu_count(), keep_in_memory=True)
    kept = set(minhash.process(signed)[0]["id"])
ids, _ = shared.documents()
shared.print_ids(one for one in ids if one not in kept)
