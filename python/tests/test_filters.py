"""Bloom filters and counting filters."""
import subprocess
import threading

import pytest

import twinsift

ITEMS = [f"item {number}" for number in range(10_000)]


def test_there_are_no_false_negatives_and_false_positives_at_the_rate():
    seen = twinsift.BloomFilter(10_000, 0.01)
    seen.update(ITEMS)
    assert all(seen.contains_many(ITEMS)) and all(item in seen for item in ITEMS[:100])
    wrong = sum(seen.contains_many([f"other {number}" for number in range(20_000)]))
    # 200 expected; four standard deviations of a binomial distribution are 56.
    assert wrong < 256
    assert 9_500 < seen.info["items"] < 10_500 and not seen.info["past_plan"]


def test_add_tells_what_is_new_and_so_does_update():
    seen = twinsift.BloomFilter(1000)
    assert seen.add("a") and not seen.add("a") and seen.add(b"b")
    assert seen.update(["a", "b", "c"]) == 1 and "c" in seen and "d" not in seen


def test_a_union_has_the_items_of_both():
    a, b = twinsift.BloomFilter(1000), twinsift.BloomFilter(1000)
    a.update(ITEMS[:100])
    b.update(ITEMS[100:200])
    assert all((a | b).contains_many(ITEMS[:200])) and not all(a.contains_many(ITEMS[:200]))
    with pytest.raises(ValueError):
        a.union(twinsift.BloomFilter(10**6))
    with pytest.raises(TypeError):
        a._bloom.unite(5)


def test_counts_go_up_and_down():
    seen = twinsift.CountingFilter(1000)
    seen.update(["a"] * 5 + ["b"])
    assert (seen.count("a"), seen.count("b"), seen.count("c")) == (5, 1, 0)
    assert seen.remove("b") and "b" not in seen and not seen.remove("c")


def test_a_filter_is_saved_and_loaded(tmp_path, program):
    path = tmp_path / "x.bloom"
    seen = twinsift.BloomFilter(1000)
    seen.update(["a", "b"])
    seen.save(path)
    again = twinsift.BloomFilter.load(path)
    assert "a" in again and again.add("c") and "c" not in seen
    with pytest.raises(FileExistsError):
        seen.save(path, replace=False)
    with pytest.raises(ValueError, match="does not count"):
        twinsift.CountingFilter.load(path)
    done = subprocess.run([program, "bloom", "has", path], input="a\nz\nb\n", capture_output=True, text=True, check=False)
    assert done.stdout == "a\nb\n"


def test_a_repr_tells_its_state():
    seen = twinsift.BloomFilter(1000)
    seen.update(ITEMS[:500])
    assert "of 1,000 items" in repr(seen) and repr(seen).startswith("<BloomFilter: about ")


def test_threads_share_a_filter():
    seen = twinsift.CountingFilter(100_000)
    threads = [threading.Thread(target=lambda: (seen.update(ITEMS), [seen.add("one") for _ in range(500)])) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen.count("one") == 2000 and all(seen.count(item) >= 4 for item in ITEMS[:100])
