"""What twinsift.spark builds upon, without Spark."""
import array
import random

import corpus
import pytest

import twinsift
from twinsift import _core

TEXTS = corpus.corpus(400, seed=5) + ["of one bucket, all of them, and that is a large one"] * 100


def signed(texts, **scheme):
    signer = twinsift.Signer(**scheme)
    columns = _core.shard_sign(signer._signer, _core.Texts(texts))
    return signer, [memoryview(column) for column in columns]


def test_a_text_is_signed_as_by_the_signer():
    signer, (digests, keys, sketches, empty) = signed(TEXTS)
    signatures = signer.sign_many(TEXTS)
    assert keys.tolist() == signer.band_keys(signatures).tolist()
    for number, text in enumerate(TEXTS):
        assert empty[number] == (corpus.folded(text) == "")
        low = [slot & 15 for slot in signatures[number]]
        assert bytes(sketches)[64 * number : 64 * number + 64] == bytes([a | b << 4 for a, b in zip(low[::2], low[1::2])])
    of_text = {}
    for number, text in enumerate(TEXTS):
        assert of_text.setdefault(corpus.folded(text), tuple(digests.tolist()[number])) == tuple(digests.tolist()[number])
    assert len(set(of_text.values())) == len(of_text)


def groups_of(texts, pieces):
    """The groups that rows of all bands make, united in parts that are united in the end."""
    signer, (_, keys, sketches, empty) = signed(texts, threshold=0.7)
    keys, sketches, empty = keys.tolist(), sketches.tolist(), empty.tolist()
    rows = sorted((key, number) for number in range(len(texts)) if not empty[number] for key in keys[number])
    whole = _core.Unions()
    for piece in range(pieces):
        part = _core.Unions()
        some = [row for row in rows if row[0] % pieces == piece]
        part.add_rows(
            signer.scheme, array.array("Q", [key for key, _ in some]), array.array("Q", [number for _, number in some]),
            b"".join(bytes(sketches[number]) for _, number in some),
        )
        whole.add(*reversed(part.list()))
    return dict(zip(*(memoryview(column).tolist() for column in whole.list())))


def test_similar_texts_are_in_one_group_however_rows_are_divided():
    groups = groups_of(TEXTS, 1)
    assert groups_of(TEXTS, 5) == groups
    assert all(group == min(one for one in groups if groups[one] == group) for group in groups.values())
    for a, b, _ in twinsift.pairs(TEXTS, threshold=0.7, copies="all"):
        assert groups[a] == groups[b]
    assert len(set(groups.values())) > 10


def test_unions_are_those_of_the_slow_version():
    generator = random.Random(2)
    edges = [(generator.randrange(2**63), generator.randrange(2**63)) for _ in range(50)]
    edges += [(generator.choice(edges)[0], generator.choice(edges)[1]) for _ in range(40)]
    unions, slow = _core.Unions(), {}
    for a, b in edges:
        united = slow.get(a, {a}) | slow.get(b, {b})
        slow.update(dict.fromkeys(united, united))
    unions.add(array.array("Q", [a for a, _ in edges]), array.array("Q", [b for _, b in edges]))
    documents, groups = (memoryview(column).tolist() for column in unions.list())
    assert documents == sorted(slow)
    assert groups == [min(slow[one]) for one in documents]


def test_what_is_no_row_is_refused():
    unions, scheme = _core.Unions(), twinsift.Signer().scheme
    two, three = array.array("Q", [1, 2]), array.array("Q", [3, 4, 5])
    with pytest.raises(ValueError, match="as many rows"):
        unions.add(two, three)
    with pytest.raises(ValueError, match="as many rows"):
        unions.add_rows(scheme, two, two, b"short")
    with pytest.raises(ValueError, match="sorted by key"):
        unions.add_rows(scheme, array.array("Q", [2, 1]), two, bytes(128))
    with pytest.raises(ValueError, match="shape"):
        unions.add_rows("shape=round", two, two, bytes(128))
    with pytest.raises(TypeError):
        _core.shard_sign("a signer", _core.Texts([]))
    assert [len(column) for column in unions.list()] == [0, 0]
