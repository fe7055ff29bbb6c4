"""Properties that hold for any texts, found by hypothesis."""
import corpus
import pytest

import twinsift

pytest.importorskip("hypothesis")
from hypothesis import HealthCheck, given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

settings.register_profile("few", max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
settings.load_profile("few")

characters = st.characters(exclude_categories=["Cs"])
text = st.text(characters, max_size=40)
plain = st.text("ab c", max_size=12)


@given(st.lists(plain, max_size=8), st.sampled_from([0.3, 0.5, 0.8, 1.0]))
def test_pairs_of_any_texts_are_true(texts, threshold):
    truth = corpus.true_pairs(texts, threshold, lambda one: corpus.shingles(one, 2))
    found = {(a, b): s for a, b, s in twinsift.pairs(texts, threshold=threshold, shingle="char:2", copies="all")}
    assert found.keys() <= truth.keys()
    assert all(found[pair] == pytest.approx(truth[pair]) for pair in found)
    assert all(pair in found for pair, similarity in truth.items() if similarity == 1)


@given(st.lists(text, max_size=12))
def test_dedup_of_any_texts_follows_its_rule(texts):
    pairs = {(a, b) for a, b, _ in twinsift.pairs(texts, threshold=0.6, copies="all")}
    assert twinsift.dedup(texts, threshold=0.6).keeper.tolist() == corpus.true_keepers(len(texts), pairs)


@given(plain, plain)
def test_distances_are_those_of_the_slow_version(a, b):
    distance = corpus.levenshtein(a, b)
    assert twinsift.edit_distance(a, b) == distance == twinsift.edit_distance(b, a)
    assert twinsift.edit_distance(a, b, limit=2) == (distance if distance <= 2 else None)


@given(text, text)
def test_similarity_is_symmetric_and_one_for_copies(a, b):
    assert twinsift.similarity(a, b) == twinsift.similarity(b, a)
    assert twinsift.similarity(a, a) in (0.0, 1.0) and 0 <= twinsift.similarity(a, b) <= 1


@given(st.lists(st.one_of(text, st.binary(max_size=20), st.none()), max_size=10))
def test_any_bytes_are_signed_alike_in_every_way(texts):
    signer = twinsift.Signer(hashes=8)
    many = [row.tolist() for row in signer.sign_many(iter(texts))]
    assert many == [signer.sign(one or b"").tolist() for one in texts]


@given(st.lists(st.one_of(text, st.none()), max_size=20), st.data())
def test_slices_of_arrow_arrays_are_read_where_they_are(texts, data):
    arrow = pytest.importorskip("pyarrow")
    kind = data.draw(st.sampled_from([arrow.string(), arrow.large_string(), arrow.string_view()]))
    begin = data.draw(st.integers(0, len(texts)))
    array = arrow.array(texts, kind).slice(begin, data.draw(st.integers(0, 20)))
    signer = twinsift.Signer(hashes=8)
    assert [row.tolist() for row in signer.sign_many(array)] == [signer.sign(one or "").tolist() for one in array.to_pylist()]


@given(st.lists(text, max_size=30), st.lists(text, max_size=30))
def test_a_filter_never_forgets(added, others):
    seen = twinsift.BloomFilter(100)
    seen.update(added)
    assert all(seen.contains_many(added)) and seen.contains_many(others).tolist() == [one in seen for one in others]
