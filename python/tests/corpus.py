"""Documents for the tests, and the slow versions that results are compared with."""
import random
import unicodedata

WORDS = (
    "harbour lighthouse bread price spring council bridge river winter market school garden plum cake recipe moth "
    "chess eel rowing concert storm window letter bicycle kitchen village train station paper cloud mountain forest"
).split()


def document(generator, words=60):
    return " ".join(generator.choice(WORDS) for _ in range(words))


def edited(generator, text, changes):
    words = text.split()
    for _ in range(changes if words else 0):
        words[generator.randrange(len(words))] = generator.choice(WORDS)
    return " ".join(words)


def corpus(count, seed=1):
    """Documents of which a third are copies or edited copies of earlier ones; some are empty or short."""
    generator = random.Random(seed)
    texts = []
    for _ in range(count):
        kind = generator.random()
        if texts and kind < 0.15:
            texts.append(generator.choice(texts))
        elif texts and kind < 0.35:
            source = generator.choice(texts)
            texts.append(edited(generator, source, generator.randrange(1, 8)) if source else source)
        elif kind < 0.4:
            texts.append(generator.choice(["", " ", "short", "a", "déjà vu"]))
        else:
            texts.append(document(generator, generator.randrange(20, 120)))
    return texts


def folded(text):
    """Normalised as the library does: NFKC, case folded, white space folded."""
    folded_once = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return " ".join(folded_once.split())


def shingles(text, width=9):
    text = folded(text)
    return {text[i : i + width] for i in range(max(1, len(text) - width + 1))} if text else set()


def word_shingles(text, width=3):
    words = folded(text).split()
    return {tuple(words[i : i + width]) for i in range(max(1, len(words) - width + 1))} if words else set()


def jaccard(a, b):
    return len(a & b) / len(a | b) if a and b else 0.0


def containment(a, b):
    return len(a & b) / min(len(a), len(b)) if a and b else 0.0


def true_pairs(texts, threshold, cut=shingles, measure=jaccard):
    """All pairs, slowly."""
    sets = [cut(text) for text in texts]
    found = {}
    for b, second in enumerate(sets):
        for a in range(b):
            similarity = measure(sets[a], second)
            if similarity >= threshold and similarity > 0:
                found[a, b] = similarity
    return found


def true_keepers(count, pairs, order=None):
    """Which text is kept for each, by the rule: in order, a text is dropped for the first kept one it is similar to."""
    order = list(range(count)) if order is None else order
    keeper, kept = [None] * count, []
    for one in order:
        keeper[one] = next((other for other in kept if tuple(sorted((one, other))) in pairs), one)
        if keeper[one] == one:
            kept.append(one)
    return keeper


def levenshtein(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        previous, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            previous, row[j] = row[j], min(previous + (x != y), row[j] + 1, row[j - 1] + 1)
    return row[-1]
