"""Pairs and dedup against the slow versions in corpus.py, and against the program."""
import json
import subprocess

import corpus
import pytest

import twinsift


def test_pairs_are_the_true_ones_with_their_exact_similarity(texts, truth):
    found = {(a, b): s for a, b, s in twinsift.pairs(texts, threshold=0.7, copies="all")}
    assert found.keys() <= truth.keys()
    assert all(found[pair] == pytest.approx(truth[pair], abs=1e-12) for pair in found)
    # Each true pair is missed with a probability below 1/1000 at the threshold, and these are above it.
    assert len(found) >= len(truth) - 1
    assert len(truth) > 50


@pytest.mark.parametrize("measure, slow", [("jaccard", corpus.jaccard), ("containment", corpus.containment)])
def test_measures_and_shingles_of_words_are_those_of_the_slow_version(texts, measure, slow):
    truth = corpus.true_pairs(texts, 0.5, corpus.word_shingles, slow)
    found = {
        (a, b): s
        for a, b, s in twinsift.pairs(texts, threshold=0.5, shingle="word:3", measure=measure, copies="all")
    }
    assert found.keys() <= truth.keys() and len(found) >= len(truth) - 2
    assert all(found[pair] == pytest.approx(truth[pair], abs=1e-12) for pair in found)


def test_copies_are_listed_once_or_all_or_not():
    texts = ["the same text", "The same  text", "the same text", "quite another one"]
    listed = {copies: [(a, b) for a, b, _ in twinsift.pairs(texts, copies=copies)] for copies in ("first", "all", "none")}
    assert listed == {"first": [(0, 1), (0, 2)], "all": [(0, 1), (0, 2), (1, 2)], "none": []}


def test_the_pairs_are_those_of_the_program(texts, program):
    lines = "".join(json.dumps({"id": i, "text": text}) + "\n" for i, text in enumerate(texts))
    done = subprocess.run(
        [program, "pairs", "--quiet", "--json", "--threshold", "0.6", "-"], input=lines.encode(), capture_output=True, check=True
    )
    theirs = [(one["a"], one["b"], one["similarity"]) for one in map(json.loads, done.stdout.splitlines())]
    ours = [(a, b, float(f"{s:.4f}")) for a, b, s in twinsift.pairs(texts, threshold=0.6)]
    assert ours == theirs and len(ours) > 50


@pytest.mark.parametrize("keep", ["first", "last", "longest", "shortest"])
def test_dedup_keeps_what_the_program_keeps(texts, program, keep):
    lines = "".join(json.dumps({"id": i, "text": text}) + "\n" for i, text in enumerate(texts))
    done = subprocess.run(
        [program, "dedup", "--quiet", "--keep", keep, "-"], input=lines.encode(), capture_output=True, check=True
    )
    theirs = [json.loads(line)["id"] for line in done.stdout.splitlines()]
    assert twinsift.dedup(texts, keep=keep).kept.tolist() == theirs


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_the_number_of_threads_changes_nothing(texts, threads):
    one, many = (twinsift.pairs(texts, threshold=0.5, threads=each) for each in (1, threads))
    assert list(one) == list(many)


def test_a_text_is_dropped_for_the_first_kept_one_that_it_is_similar_to(texts):
    pairs = {(a, b) for a, b, _ in twinsift.pairs(texts, threshold=0.7, copies="all")}
    result = twinsift.dedup(texts, threshold=0.7)
    assert result.keeper.tolist() == corpus.true_keepers(len(texts), pairs)
    assert result.keep.tolist() == [keeper == i for i, keeper in enumerate(result.keeper)]
    assert result.kept.tolist() == [i for i, kept in enumerate(result.keep) if kept]
    assert all(s >= 0.7 for s in result.similarity)


def test_of_similar_texts_the_one_with_the_smallest_rank_is_kept(texts, program):
    scores = [(7 * i) % 11 for i in range(len(texts))]
    pairs = {(a, b) for a, b, _ in twinsift.pairs(texts, threshold=0.7, copies="all")}
    order = sorted(range(len(texts)), key=lambda i: scores[i])
    result = twinsift.dedup(texts, threshold=0.7, rank=scores)
    assert result.keeper.tolist() == corpus.true_keepers(len(texts), pairs, order)
    assert twinsift.dedup(texts, threshold=0.7, rank=range(len(texts))).keeper.tolist() == twinsift.dedup(texts, threshold=0.7).keeper.tolist()
    best = twinsift.dedup(["a text", "A text"], rank=twinsift.ranks([1, 2], largest=True))
    assert best.kept.tolist() == [1]


def test_groups_have_every_dropped_text_once(texts):
    result = twinsift.dedup(texts, threshold=0.7)
    groups = list(result.groups())
    assert sum(len(group) - 1 for group in groups) == len(texts) - len(result.kept)
    assert all(result.keeper[one] == group[0] for group in groups for one in group)
    assert groups == sorted(groups)


def test_chains_are_components():
    texts = [" ".join(corpus.WORDS[i : i + 20]) for i in range(0, 12, 2)]
    plain = twinsift.dedup(texts, threshold=0.7)
    chained = twinsift.dedup(texts, threshold=0.7, chain=True)
    assert len(plain.kept) > 1 and chained.kept.tolist() == [0]


def test_against_finds_pairs_between_two_collections_and_drops_what_the_other_has(texts):
    new, old = texts[:150], texts[150:]
    pairs = {(a, b) for a, b, _ in twinsift.pairs(new, against=old, threshold=0.7, copies="all")}
    together = {(a, b - 150) for a, b, _ in twinsift.pairs(texts, threshold=0.7, copies="all") if a < 150 <= b}
    assert pairs == together and pairs
    result = twinsift.dedup(new, against=old, threshold=0.7)
    similar = {a for a, _ in pairs}
    assert all(not result.keep[a] for a in similar)
    assert {i for i, k in enumerate(result.keeper) if k == 0xFFFFFFFF} == similar


def test_edits_are_compared_character_by_character():
    names = ["smith", "smyth", "smithe", "jones", "jonas", "SMITH"]
    found = {(a, b): s for a, b, s in twinsift.pairs(names, measure="edit", threshold=0.8)}
    assert found[0, 1] == pytest.approx(0.8) and found[3, 4] == pytest.approx(0.8) and found[0, 5] == 1.0
    within = {(a, b) for a, b, _ in twinsift.pairs(names, measure="edit", threshold=0.1, max_edits=1, copies="all")}
    truth = {
        (a, b) for b in range(6) for a in range(b) if corpus.levenshtein(names[a].lower(), names[b].lower()) <= 1
    }
    assert within == truth


def test_dedup_by_edits_follows_its_rule(texts):
    short = [text[:40] for text in texts]
    pairs = {(a, b) for a, b, _ in twinsift.pairs(short, measure="edit", threshold=0.7, copies="all")}
    result = twinsift.dedup(short, measure="edit", threshold=0.7)
    assert result.keeper.tolist() == corpus.true_keepers(len(short), pairs) and len(result.kept) < len(set(short))


def test_similarity_is_that_of_the_slow_version(texts):
    for a, b in zip(texts, texts[1:]):
        assert twinsift.similarity(a, b) == pytest.approx(corpus.jaccard(corpus.shingles(a), corpus.shingles(b)))
        expected = corpus.containment(corpus.word_shingles(a), corpus.word_shingles(b))
        assert twinsift.similarity(a, b, measure="containment", shingle="word:3") == pytest.approx(expected)


def test_results_outlive_their_object(texts):
    a = twinsift.pairs(texts).a
    first = a[0]
    for _ in range(100):
        twinsift.pairs(texts[:50])
    assert a[0] == first and a.readonly and a.format == "I"
    with pytest.raises(TypeError):
        a[0] = 1


def test_the_report_counts(texts):
    report = twinsift.dedup(texts).report
    assert report["documents"] == 300 and report["kept"] + report["exact_copies"] + report["near_copies"] == 300
    assert report["bytes"] == sum(len(text.encode()) for text in texts)


def test_nothing_is_found_in_nothing():
    assert list(twinsift.pairs([])) == [] and twinsift.dedup([]).kept.tolist() == []
    assert list(twinsift.pairs(["", None, " "])) == []
    assert len(twinsift.Signer().sign_many([])) == 0
    assert "0 among 0" in repr(twinsift.pairs([])) and "0 of 0" in repr(twinsift.dedup([]))


def test_a_repr_shows_counts_and_the_first_rows_and_a_notebook_the_differences():
    texts = ["the lighthouse will be lit again <b>in</b> spring", "the lighthouse will be lit again <b>in</b> autumn"]
    pairs, result = twinsift.pairs(texts, threshold=0.5), twinsift.dedup(texts, threshold=0.5)
    assert repr(pairs).splitlines()[0] == "<Pairs: 1 among 2 texts>" and "0  1" in repr(pairs)
    assert repr(result).splitlines()[0] == "<Dedup: 1 of 2 texts kept>"
    for page in (pairs._repr_html_(), result._repr_html_()):
        assert "<del>spring</del>" in page and "<ins>autumn</ins>" in page and "&lt;b&gt;" in page and "<b>in" not in page


def test_plans_are_those_of_the_program(program):
    done = subprocess.run(
        [program, "plan", "--reject", "0.6:0.01", "--accept", "0.9:0.99", "--json"], capture_output=True, text=True, check=True
    )
    theirs = json.loads(done.stdout.splitlines()[0])
    ours = twinsift.plan(reject=(0.6, 0.01), accept=(0.9, 0.99))
    assert (ours.bands, ours.rows, ours.slots) == (theirs["bands"], theirs["rows"], theirs["hashes"])
    assert ours.probability(0.6) == pytest.approx(1 - (1 - 0.6**ours.rows) ** ours.bands)


def test_the_edit_distance_is_that_of_the_slow_version(texts):
    for a, b in zip(texts[:60], texts[1:]):
        a, b = a[:40], b[:40]
        distance = corpus.levenshtein(a, b)
        assert twinsift.edit_distance(a, b) == distance
        assert twinsift.edit_distance(a, b, limit=distance) == distance
        assert distance == 0 or twinsift.edit_distance(a, b, limit=distance - 1) is None
