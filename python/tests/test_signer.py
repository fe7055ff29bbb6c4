"""Signatures and band keys."""
import pickle

import pytest

import twinsift

numpy = pytest.importorskip("numpy")


def test_signatures_of_many_are_those_of_each(texts):
    signer = twinsift.Signer()
    many = signer.sign_many(texts)
    assert len(many) == len(texts)
    assert [row.tolist() for row in many] == [signer.sign(text).tolist() for text in texts]
    assert numpy.asarray(many).shape == (len(texts), 128) and numpy.asarray(many).dtype == numpy.uint32
    assert many[-1].tolist() == many[len(texts) - 1].tolist()
    with pytest.raises(IndexError):
        many[len(texts)]


def test_equal_slots_estimate_the_similarity():
    a, b = "the quick brown fox jumps over the lazy dog " * 4, "the quick brown fox jumps over the lazy cat " * 4
    truth = twinsift.similarity(a, b)
    estimates = []
    for seed in range(200):
        signer = twinsift.Signer(seed=seed)
        estimates.append(numpy.mean(numpy.asarray(signer.sign(a)) == numpy.asarray(signer.sign(b))))
    # Four standard errors of the mean of 200 estimates of 128 slots.
    assert abs(numpy.mean(estimates) - truth) < 4 * 0.5 / (200 * 128) ** 0.5


# Written once, by the first version; docs/format.md says how they come about.
GOLDEN = [131775618, 6315297, 21590887, 371741918]
GOLDEN_KEYS = [[12727073976212548970, 10805436636121358897, 14562424604095525911, 17127292341628647932]]


def test_signatures_are_the_same_on_every_machine():
    signer = twinsift.Signer(hashes=4)
    assert signer.sign("The lighthouse on the cape").tolist() == GOLDEN
    assert signer.band_keys(signer.sign("The lighthouse on the cape")).tolist() == GOLDEN_KEYS


def test_band_keys_agree_where_rows_of_signatures_do(texts):
    signer = twinsift.Signer(bands=32, rows=4)
    signatures = numpy.asarray(signer.sign_many(texts))
    keys = numpy.asarray(signer.band_keys(signatures))
    assert keys.shape == (len(texts), 32)
    rows = signatures.reshape(len(texts), 32, 4)
    equal_rows = (rows[:, None] == rows[None, :]).all(axis=-1)
    assert ((keys[:, None] == keys[None, :]) == equal_rows).all()


def test_a_scheme_says_all():
    signer = twinsift.Signer(shingle="word:2", hashes=32, seed=7, threshold=0.5, sketch="classic", normal="bytes")
    again = twinsift.Signer(signer.scheme)
    assert again.scheme == signer.scheme and again.sign("a b c").tolist() == signer.sign("a b c").tolist()
    assert pickle.loads(pickle.dumps(signer)).scheme == signer.scheme
    assert eval(repr(signer), {"Signer": twinsift.Signer}).scheme == signer.scheme
    with pytest.raises(TypeError):
        twinsift.Signer(signer.scheme, hashes=3)


@pytest.mark.parametrize("keys", [bytes(10), numpy.zeros((2, 5), numpy.uint32), numpy.zeros((2, 128), numpy.uint64)])
def test_band_keys_of_what_is_no_signature_are_refused(keys):
    with pytest.raises(ValueError, match="rows of 128 numbers"):
        twinsift.Signer().band_keys(keys)
