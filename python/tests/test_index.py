"""An index in a file."""
import os
import pickle
import threading

import pytest

import twinsift


@pytest.fixture
def index(tmp_path, texts):
    with twinsift.Index.create(tmp_path / "docs.twin", keep="text", threshold=0.7) as index:
        index.add(range(len(texts)), texts)
        yield index


def test_a_query_finds_what_pairs_finds(index, texts):
    similar = {}
    for a, b, s in twinsift.pairs(texts, threshold=0.7, copies="all"):
        similar.setdefault(a, {})[b] = similar.setdefault(b, {})[a] = s
    for number, text in enumerate(texts[:100]):
        found = {entry.id: entry.similarity for entry in index.query(text)}
        assert found.pop(number, 1.0) == pytest.approx(1.0)
        assert found == pytest.approx(similar.get(number, {}))


def test_many_queries_are_answered_as_each(index, texts):
    many = index.query_many(texts[:50], top=3, threads=2)
    assert many == [index.query(text, top=3) for text in texts[:50]]
    assert all(len(answer) <= 3 and not answer.estimated and not answer.incomplete for answer in many)
    bounded = index.query(max(texts, key=texts.count), most_compared=1)
    assert isinstance(bounded.incomplete, bool)


def test_it_is_a_collection_of_ids(index, texts):
    assert len(index) == len(texts) and 5 in index and "5" in index and 1000 not in index
    assert list(index) == list(range(len(texts)))
    entry = index.get(5)
    assert entry.id == 5 and entry.label == 0 and entry.set_size > 0
    assert index.get("none") is None and index.text("none") is None
    assert index.text(5) == " ".join(texts[5].split()).casefold()


def test_what_is_added_again_is_replaced_and_what_is_removed_is_gone(index):
    change = index.add(["new", 5], ["one text about moths", "another text about eels"], label=7, time=99)
    assert change["added"] == 1 and change["replaced"] == 1
    assert index.text(5) == "another text about eels" and index.get("new")[2:4] == (7, 99)
    assert index.remove(["new", "none", 5]) == [True, False, True]
    assert "new" not in index and len(index) == 299
    index.check()


def test_pairs_of_an_index_are_those_of_its_texts(index, texts):
    expected = [(a, b) for a, b, _ in twinsift.pairs(texts, threshold=0.7)]
    assert sorted((a, b) for a, b, _ in index.pairs()) == sorted(expected)
    assert len(index.pairs(copies="none")) < len(expected)


def test_it_is_read_again_and_compacted(index, texts, tmp_path):
    with twinsift.Index(tmp_path / "docs.twin") as reader:
        assert len(reader) == len(texts) and reader.keep == "text" and "threshold=0.7" in reader.scheme
        assert pickle.loads(pickle.dumps(reader)).query(texts[9])
        with pytest.raises(ValueError, match="reading"):
            reader.add(["x"], ["y"])
    index.remove(range(250))
    size = os.path.getsize(tmp_path / "docs.twin")
    index.compact()
    assert os.path.getsize(tmp_path / "docs.twin") < size and len(index) == 50
    assert index.info["documents"] == 50
    index.check()


def test_a_closed_index_says_so(index):
    index.close()
    for call in (lambda: len(index), lambda: index.query("a"), lambda: index.add(["a"], ["b"]), lambda: list(index)):
        with pytest.raises(ValueError, match="the index is closed"):
            call()
    index.close()


def test_ids_are_strings_numbers_and_bytes(tmp_path):
    with twinsift.Index.create(tmp_path / "x") as index:
        index.add(["a", 7, b"\xff\xfe", "é"], ["one", "two", "three", "four"])
        assert list(index) == ["a", 7, "\udcff\udcfe", "é"]
        assert index.get("\udcff\udcfe") == index.get(b"\xff\xfe")
        with pytest.raises(TypeError, match="id 1 must be str, int or bytes, not float"):
            index.add(["x", 1.5], ["x", "y"])
        with pytest.raises(ValueError, match="id 1 has a lone surrogate"):
            index.add(["x", "\ud800"], ["x", "y"])
        with pytest.raises(ValueError, match="id 0 is empty"):
            index.add([""], ["x"])
        with pytest.raises(TypeError, match="not a single one"):
            index.add("a", ["x"])
        with pytest.raises(ValueError, match="2 ids for 1 texts"):
            index.add(["a", "b"], ["x"])


def test_numbers_that_do_not_fit_are_refused(index):
    """None of them is cut to what would fit."""
    for keywords in ({"label": 2**32}, {"label": -1}, {"time": 2**64}, {"time": -1}):
        with pytest.raises(ValueError, match=next(iter(keywords))):
            index.add(["x"], ["a text"], **keywords)
    for keywords in ({"threshold": 0}, {"threshold": 1.5}, {"top": 0}, {"top": 10**30}, {"most_compared": -1}):
        with pytest.raises(ValueError, match=next(iter(keywords))):
            index.query("a text", **keywords)
    assert "x" not in index


def test_an_index_is_not_replaced_by_accident(tmp_path):
    twinsift.Index.create(tmp_path / "x").close()
    with pytest.raises((ValueError, OSError)):
        twinsift.Index.create(tmp_path / "x")
    twinsift.Index.create(tmp_path / "x", replace=True).close()


def test_a_text_that_is_not_kept_is_unsupported(tmp_path):
    with twinsift.Index.create(tmp_path / "x", keep="none") as index:
        index.add(["a"], ["some text"])
        assert index.query("some text").estimated
        with pytest.raises(twinsift.UnsupportedError):
            index.text("a")


def test_threads_share_an_index(index, texts):
    answers, failures = {}, []

    def query(which):
        try:
            answers[which] = [index.query(text) for text in texts[:60]]
        except Exception as error:
            failures.append(error)

    def write():
        for number in range(20):
            index.add([f"more {number}"], ["quite unlike anything else in here"])

    threads = [threading.Thread(target=query, args=(which,)) for which in range(4)] + [threading.Thread(target=write)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures and all(answers[which] == answers[0] for which in answers)


def test_a_forked_child_must_open_it_itself(index, python, tmp_path, texts):
    done = python(
        """
import os, sys, twinsift
index = twinsift.Index(sys.argv[1])
child = os.fork()
if child == 0:
    try:
        index.query("a text")
    except ValueError as error:
        assert "open it again" in str(error), error
        os._exit(0 if twinsift.Index(sys.argv[1]).query(sys.argv[2]) else 2)
    os._exit(1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert index.query(sys.argv[2])
""",
        tmp_path / "docs.twin", texts[9],
    )
    assert done.returncode == 0, done.stderr


def test_a_truncated_index_is_reported(index, tmp_path, texts):
    """By the handle that has it open, too: the pages that are gone would be SIGBUS."""
    index.query(texts[9])
    os.truncate(tmp_path / "docs.twin", 8192)
    for call in (lambda: index.query(texts[9]), lambda: list(index), lambda: index.add(["x"], ["y"]), index.check):
        with pytest.raises(twinsift.FormatError, match="was cut short while it was open"):
            call()
    index.close()
    with pytest.raises(twinsift.FormatError):
        twinsift.Index(tmp_path / "docs.twin")
