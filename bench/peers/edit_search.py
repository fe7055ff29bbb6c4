"""Names near to a query, for edit_search.sh.

edit_search.py make COUNT QUERIES BASE ASKED      full names, each once; and queries, which are two edits from one
edit_search.py rapidfuzz|symspell BASE ASKED      prints the lines of a query and of a name within two edits
"""
import random
import string
import sys

EDITS = 2


def parts(which):
    import names

    words, weights, last = [], [], 0.0
    with open(names.FILES[which], encoding="ascii") as file:
        for line in file:
            word, _, total, _ = line.split()
            words.append(word.lower())
            weights.append(float(total) - last)
            last = float(total)
    return words, weights


def edited(name, generator):
    for _ in range(EDITS):
        at = generator.randrange(len(name))
        letter = generator.choice(string.ascii_lowercase)
        name = generator.choice([name[:at] + letter + name[at:], name[:at] + name[at + 1 :], name[:at] + letter + name[at + 1 :]])
    return " ".join(name.split())


def make(count, queries, base, asked):
    generator = random.Random(1)
    seen = {}
    first = [parts("first:male"), parts("first:female")]
    last, last_weights = parts("last")
    while len(seen) < count:
        for side, (words, weights) in enumerate(first):
            some = count // 4
            for name in zip(generator.choices(words, weights, k=some), generator.choices(last, last_weights, k=some)):
                if len(seen) < count:
                    seen.setdefault(" ".join(name))
    names = list(seen)
    with open(base, "w", encoding="ascii") as file:
        file.writelines(name + "\n" for name in names)
    with open(asked, "w", encoding="ascii") as file:
        file.writelines(edited(name, generator) + "\n" for name in generator.sample(names, queries))


def lines(path):
    with open(path, encoding="ascii") as file:
        return file.read().splitlines()


def with_rapidfuzz(base, asked):
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import extract

    for number, query in enumerate(asked, 1):
        for _, _, place in extract(query, base, scorer=Levenshtein.distance, score_cutoff=EDITS, limit=None):
            print(f"{number}\t{place + 1}")


def with_symspell(base, asked):
    from symspellpy import SymSpell, Verbosity
    from symspellpy.editdistance import DistanceAlgorithm, EditDistance

    plain = EditDistance(DistanceAlgorithm.LEVENSHTEIN_FAST)  # without transpositions, as the others
    spell = SymSpell(max_dictionary_edit_distance=EDITS, prefix_length=7, distance_comparer=plain)
    place = {}
    for number, name in enumerate(base, 1):
        place[name] = number
        spell.create_dictionary_entry(name, 1)
    for number, query in enumerate(asked, 1):
        for found in spell.lookup(query, Verbosity.ALL, max_edit_distance=EDITS):
            print(f"{number}\t{place[found.term]}")


if sys.argv[1] == "make":
    make(int(sys.argv[2]), int(sys.argv[3]), sys.argv[4], sys.argv[5])
else:
    run = {"rapidfuzz": with_rapidfuzz, "symspell": with_symspell}[sys.argv[1]]
    run(lines(sys.argv[2]), lines(sys.argv[3]))
