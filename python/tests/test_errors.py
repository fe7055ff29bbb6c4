"""Invalid values are ValueError, wrong types TypeError, files OSError; the sentence names what is wrong."""
import re

import pytest

import twinsift


@pytest.mark.parametrize(
    "call, kind, words",
    [
        (lambda: twinsift.pairs("one text"), TypeError, "expected many texts, such as a list, not a single one"),
        (lambda: twinsift.pairs(b"one text"), TypeError, "not a single one"),
        (lambda: twinsift.pairs(7), TypeError, "expected many texts, such as a list or an Arrow array, not int"),
        (lambda: twinsift.pairs(["a"], column=5), TypeError, "column must be str, not int"),
        (lambda: twinsift.pairs(["a"], shingle="char:3\0"), ValueError, "shingle cannot be"),
        (lambda: twinsift.dedup(["a"], rank=5), TypeError, "rank must be a number for each text, not int"),
        (lambda: twinsift.dedup(["a", "b"], rank=[1, "b"]), TypeError, "rank 1 must be a number, not str"),
        (lambda: twinsift.dedup(["a", "b"], rank=[1, float("nan")]), ValueError, "rank 1 is NaN"),
        (lambda: twinsift.plan(accept=3, reject=(0.6, 0.01)), TypeError, "accept must be a similarity and a probability"),
        (lambda: twinsift.plan(accept=(0.9, 0.99, 1), reject=(0.6, 0.01)), ValueError, "accept must be a similarity and"),
        (lambda: twinsift.plan(accept=(0.9, 0.99), reject=("low", 0.01)), TypeError, "reject must be float, not str"),
        (lambda: twinsift.plan(threshold=0.8).probability(5), ValueError, "similarity must be 0 to 1, not 5"),
        (lambda: twinsift.BloomFilter(10).union(5), TypeError, "other must be a BloomFilter, not int"),
        (lambda: twinsift.pairs(["a", 1]), TypeError, "text 1 must be str or bytes, not int"),
        (lambda: twinsift.pairs(["a", "b\ud800"]), ValueError, "text 1 has a lone surrogate"),
        (lambda: twinsift.pairs(["a"], threshold=0), ValueError, "threshold"),
        (lambda: twinsift.pairs(["a"], threshold=1.5), ValueError, "threshold must be above 0 and at most 1, not 1.5"),
        (lambda: twinsift.pairs(["a"], threshold=float("nan")), ValueError, "threshold"),
        (lambda: twinsift.pairs(["a"], threshold="high"), TypeError, "threshold must be float, not str"),
        (lambda: twinsift.pairs(["a"], measure="cosine"), ValueError, "measure must be jaccard, containment or edit, not 'cosine'"),
        (lambda: twinsift.pairs(["a"], shingle="char"), ValueError, '"char" is not auto, char:N'),
        (lambda: twinsift.pairs(["a"], shingle="letters:3"), ValueError, '"letters:3" is not auto, char:N'),
        (lambda: twinsift.pairs(["a"], shingle="char:2000"), ValueError, "1024"),
        (lambda: twinsift.pairs(["a"], hashes=0), ValueError, "hashes must be at least 1"),
        (lambda: twinsift.pairs(["a"], hashes=10**6), ValueError, "1 to 65536 slots, not 1000000"),
        (lambda: twinsift.pairs(["a"], hashes=10**30), ValueError, "hashes must be 1 to"),
        (lambda: twinsift.pairs(["a"], seed=-1), ValueError, "seed must be at least 0, not -1"),
        (lambda: twinsift.pairs(["a"], seed=2**64), ValueError, "seed must be 0 to 18446744073709551615, not"),
        (lambda: twinsift.pairs(["a"], seed="one"), TypeError, "seed must be int, not str"),
        (lambda: twinsift.pairs(["a"], shingle=5), TypeError, "shingle must be str, not int"),
        (lambda: twinsift.pairs(["a"], seed=2**64 - 1), None, ""),
        (lambda: twinsift.pairs(["a"], copies="some"), ValueError, "copies must be first, all or none"),
        (lambda: twinsift.pairs(["a"], threads=-1), ValueError, "threads must be at least 0, not -1"),
        (lambda: twinsift.pairs(["a"], threads=10**30), ValueError, "threads must be 0 to 1024, not 1000"),
        (lambda: twinsift.pairs(["a"], threads=10**9), ValueError, "threads must be 0 to 1024, not 1000000000"),
        (lambda: twinsift.pairs(["a"], bands=5), ValueError, "bands and rows must be given together"),
        (lambda: twinsift.pairs(["a"], bands=50, rows=50), ValueError, "50 bands of 50 rows do not fit into 128 slots"),
        (lambda: twinsift.pairs(["a"], hash="md5"), ValueError, "md5"),
        (lambda: twinsift.pairs(["a"], hash="farm"), (None, twinsift.UnsupportedError), "farm"),
        (lambda: twinsift.pairs(["a"], speed=3), TypeError, "^speed is not a keyword of this function"),
        (lambda: twinsift.pairs(["a"], progress=3), TypeError, "progress must be callable, True or None, not int"),
        (lambda: twinsift.pairs(["a"], max_edits=3), ValueError, "max_edits needs measure='edit'"),
        (lambda: twinsift.dedup(["a"], keep="best"), ValueError, "keep must be first, last, longest or shortest"),
        (lambda: twinsift.dedup(["a"], max_edits=3), ValueError, "max_edits needs measure='edit'"),
        (lambda: twinsift.dedup(["a"], rank=[1, 2]), ValueError, "2 ranks for 1 texts"),
        (lambda: twinsift.dedup(["a"], rank=[1], keep="last"), ValueError, "rank says"),
        (lambda: twinsift.dedup({"body": ["a"]}), ValueError, 'no column "text"; it has: body'),
        (lambda: twinsift.dedup([{"body": "a"}]), ValueError, 'no column "text"; it has: body'),
        (lambda: twinsift.similarity("a", 1), TypeError, "b must be str or bytes, not int"),
        (lambda: twinsift.edit_distance("a", "b", limit=-1), ValueError, "limit must be at least 0, not -1"),
        (lambda: twinsift.plan(), ValueError, "threshold must be given, or accept and reject"),
        (lambda: twinsift.plan(accept=(0.9, 0.99)), ValueError, "together"),
        (lambda: twinsift.plan(accept=(0.5, 0.99), reject=(0.6, 0.01)), ValueError, ""),
        (lambda: twinsift.plan(accept=(0.9, 0.99), reject=(0.8, 0.01), slots=10), twinsift.LimitError, ""),
        (lambda: twinsift.Signer("shingle=x"), ValueError, "scheme"),
        (lambda: twinsift.Signer(5), TypeError, "a scheme must be str or bytes, not int"),
        (lambda: twinsift.Signer().sign(5), TypeError, "the text must be str or bytes, not int"),
        (lambda: twinsift.BloomFilter(0), ValueError, "capacity must be at least 1, not 0"),
        (lambda: twinsift.BloomFilter(10, 0.9), ValueError, "error must be 1e-12 to 0.5, not 0.9"),
        (lambda: twinsift.BloomFilter(2**64 + 1000), ValueError, "capacity must be 1 to"),
        (lambda: twinsift.BloomFilter(10**18), (twinsift.LimitError, MemoryError), ""),
        (lambda: twinsift.BloomFilter(10).add(5), TypeError, "an item must be str or bytes, not int"),
        (lambda: twinsift.Index("x", "rw"), ValueError, "mode must be r or w, not 'rw'"),
    ],
)
def test_what_is_wrong_is_said(call, kind, words):
    kinds = kind if isinstance(kind, tuple) else (kind,)
    try:
        call()
    except Exception as error:
        assert type(error) in kinds, repr(error)
        assert re.search(words, str(error)), str(error)
    else:
        assert None in kinds


def test_a_missing_file_is_an_os_error_with_its_name(tmp_path):
    path = tmp_path / "näme.twin"
    for call in (twinsift.Index, twinsift.BloomFilter.load):
        with pytest.raises(FileNotFoundError) as caught:
            call(path)
        assert caught.value.filename == str(path) and caught.value.errno == 2


def test_a_file_that_exists_is_an_os_error_with_its_name(tmp_path):
    path = str(tmp_path / "x")
    twinsift.Index.create(path).close()
    for call in (twinsift.Index.create, lambda path: twinsift.BloomFilter(10).save(path, replace=False)):
        with pytest.raises(FileExistsError, match="already exists") as caught:
            call(path)
        assert caught.value.filename == path


def test_a_file_of_another_kind_is_a_format_error(tmp_path):
    path = tmp_path / "other"
    path.write_bytes(b"something else" * 1000)
    for call in (twinsift.Index, twinsift.BloomFilter.load):
        with pytest.raises(twinsift.FormatError, match="other"):
            call(path)


def test_exceptions_have_one_base():
    for kind in (twinsift.FormatError, twinsift.BusyError, twinsift.LimitError, twinsift.UnsupportedError):
        assert issubclass(kind, twinsift.Error) and kind.__doc__
