"""What the scripts run_*.py have in common: they are called as `run_NAME.py FILE.jsonl word:5|char:9 [SETTING]`, and print
the pairs that NAME finds similar, or the documents that it would remove, as lines of one or two ids."""
import itertools
import json
import os
import sys

THRESHOLD = 0.8
PATH, RULE = os.path.abspath(sys.argv[1]), sys.argv[2]
SETTING = sys.argv[3] if len(sys.argv) > 3 else ""
KIND, WIDTH = RULE.split(":")[0], int(RULE.split(":")[1])


def documents():
    """The ids and the texts."""
    ids, texts = [], []
    with open(PATH, encoding="utf-8") as file:
        for line in file:
            record = json.loads(line)
            ids.append(record["id"])
            texts.append(record["text"])
    return ids, texts


def shingles(text):
    """The set of shingles of a text; one that is shorter than a shingle is one as a whole."""
    if KIND == "char":
        return {text[i : i + WIDTH] for i in range(max(1, len(text) - WIDTH + 1))} if text else set()
    words = text.split()
    return {" ".join(words[i : i + WIDTH]) for i in range(max(1, len(words) - WIDTH + 1))} if words else set()


def candidates_of(rows, bands):
    """Pairs of rows that are equal in one of the bands."""
    width = len(rows[0]) // bands
    found = set()
    for begin in range(0, bands * width, width):
        buckets = {}
        for number, row in enumerate(rows):
            buckets.setdefault(bytes(row[begin : begin + width]), []).append(number)
        for members in buckets.values():
            if len(members) > 1:
                found.update(itertools.combinations(members, 2))
    return found


def verified(pairs, texts):
    """Of the pairs of numbers those that are similar, by their whole sets."""
    sets = {number: shingles(texts[number]) for number in set(itertools.chain.from_iterable(pairs))}
    for a, b in pairs:
        common = len(sets[a] & sets[b])
        if common and common >= THRESHOLD * (len(sets[a]) + len(sets[b]) - common):
            yield a, b


def print_pairs(pairs, ids):
    sys.stdout.writelines(f"{ids[a]}\t{ids[b]}\n" for a, b in pairs)


def print_ids(ids):
    sys.stdout.writelines(f"{one}\n" for one in ids)
