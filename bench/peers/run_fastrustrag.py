"""fastrustrag: all pairs of its corpus, 32 bands of 4; decided by the estimate."""
import os
import sys

import fastrustrag
import shared

ids, texts = shared.documents()
sys.stdout = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # it prints its progress on standard output
pipeline = fastrustrag.DeduplicationPipeline(32, 128, shared.WIDTH, shared.THRESHOLD)
pipeline.process_documents(texts)
# Its numbers do not follow the input: a text is looked up instead, and of equal texts the first stands for all.
number = {}
for i, text in enumerate(texts):
    number.setdefault(text, i)
pairs = set()
for found in pipeline.deduplicate_corpus():
    a, b = sorted(number[pipeline.get_document(one)] for one in found[:2])
    if a != b:
        pairs.add((a, b))
pairs.update((number[text], i) for i, text in enumerate(texts) if number[text] != i)
shared.print_pairs(sorted(pairs), ids)
