"""Measures for python.sh: python.py CORPUS.jsonl PROGRAM [peers]

Prints lines "what<TAB>CPU seconds": the best of several runs, by turns, of the package, of the program on the same file,
of signing in C alone, and of other packages on the same texts.
"""
import json
import os
import resource
import subprocess
import sys
import time

import twinsift

RUNS = int(os.environ.get("BENCH_RUNS", "5"))
best = {}


def children():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def measure(name, call, clock=time.process_time):
    begin = clock()
    result = call()
    best[name] = min(best.get(name, float("inf")), clock() - begin)
    return result


def program(command, path):
    subprocess.run([sys.argv[2], command, "--quiet", "--threads", "1", path], stdout=subprocess.DEVNULL, check=True)


def ours(path, texts):
    """Our side: signing from lists and Arrow, pairs and dedup, and the program."""
    try:
        import pyarrow
    except ImportError:
        pyarrow = None
    signer = twinsift.Signer(shingle="char:9")
    arrow = pyarrow.array(texts) if pyarrow else texts
    ready = twinsift._core.Texts(texts)
    for _ in range(RUNS):
        measure("sign, C loop", lambda: signer._signer.sign_many(ready, 1, None))
        measure("sign, Arrow", lambda: signer.sign_many(arrow, threads=1))
        measure("sign, list of str", lambda: signer.sign_many(texts, threads=1))
        measure("pairs, program", lambda: program("pairs", path), children)
        measure("pairs, list of str", lambda: twinsift.pairs(texts, threads=1))
        measure("dedup, program", lambda: program("dedup", path), children)
        measure("dedup, list of str", lambda: twinsift.dedup(texts, threads=1))


def candidates(texts):
    """Signing and candidates, which is what the others do."""
    return twinsift.pairs(texts, shingle="char:9", threads=1)


def shingles(text):
    return {text[i : i + 9] for i in range(max(1, len(text) - 8))}


def datasketch(texts):
    from datasketch import MinHash, MinHashLSH

    index, found = MinHashLSH(0.8, 128), set()
    sets = ([one.encode() for one in shingles(text)] for text in texts)
    for number, sketch in enumerate(MinHash.bulk(sets, num_perm=128)):
        found.update((other, number) for other in index.query(sketch))
        index.insert(number, sketch)
    return found


def rensa(texts):
    import rensa as module

    sketches = module.RMinHash.from_token_sets([list(shingles(text)) for text in texts], 128, 42)
    index = module.RMinHashLSH(0.8, 128, 32)
    index.insert_many(sketches)
    return {(b, a) for a, all_of in enumerate(index.query_all(sketches)) for b in all_of if b < a}


def recall(truth, found):
    return len(truth & found) / len(truth)


def peers(texts):
    """Others on a part of the texts, which are theirs from the raw string on."""
    some = [text.lower() for text in texts[:4000]]
    truth = {(a, b) for a, b, _ in twinsift.pairs(some, shingle="char:9", copies="all", bands=128, rows=1)}
    for _ in range(RUNS):
        measure("4000 texts, twinsift", lambda: candidates(some))
    ours_found = {(a, b) for a, b, _ in twinsift.pairs(some, shingle="char:9", copies="all")}
    print(f"recall, twinsift\t{recall(truth, ours_found):.4f}")
    for name, call in (("datasketch", datasketch), ("rensa", rensa)):
        try:
            found = measure(f"4000 texts, {name}", lambda: call(some))
            print(f"recall, {name}\t{recall(truth, found):.4f}")
        except ImportError:
            print(f"{name} is not installed", file=sys.stderr)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        texts = [json.loads(line)["text"] for line in file]
    ours(sys.argv[1], texts)
    peers(texts)
    for name, seconds in best.items():
        print(f"{name}\t{seconds:.4f}")


main()
