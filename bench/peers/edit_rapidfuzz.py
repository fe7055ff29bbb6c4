"""Pairs of short strings with rapidfuzz, for edit.sh: all rows against all later ones, in blocks, on one thread.

edit_rapidfuzz.py names                      the surnames of the package `names`, one per line, each once
edit_rapidfuzz.py edits|ratio LIMIT FILE     pairs of the JSON lines in FILE, as twinsift prints them
"""
import json
import sys

BLOCK = 1000


def print_names():
    import names

    seen = set()
    with open(names.FILES["last"], encoding="ascii") as file:
        for line in file:
            name = line.split()[0].lower()
            if name not in seen:
                seen.add(name)
                print(name)


def print_pairs(kind, limit, path):
    import numpy
    from rapidfuzz.distance import Indel, Levenshtein
    from rapidfuzz.process import cdist

    with open(path, encoding="utf-8") as file:
        documents = [json.loads(line) for line in file]
    ids = [document["id"] for document in documents]
    texts = [document["text"] for document in documents]
    for begin in range(0, len(texts), BLOCK):
        block, rest = texts[begin : begin + BLOCK], texts[begin:]
        if kind == "edits":
            found = cdist(block, rest, scorer=Levenshtein.distance, score_cutoff=int(limit), dtype=numpy.uint8)
            a, b = numpy.nonzero(found <= int(limit))
        else:
            found = cdist(block, rest, scorer=Indel.normalized_similarity, score_cutoff=limit, dtype=numpy.float32)
            a, b = numpy.nonzero(found > 0)
        later = b > a
        a, b = a[later], b[later]
        sys.stdout.writelines(
            f"{ids[begin + i]}\t{ids[begin + j]}\t{found[i, j]}\n" for i, j in zip(a.tolist(), b.tolist())
        )


if sys.argv[1] == "names":
    print_names()
else:
    print_pairs(sys.argv[1], float(sys.argv[2]), sys.argv[3])
