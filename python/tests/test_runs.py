"""Runs: the GIL is free, signals and callbacks stop them, threads may share, memory stays flat."""
import gc
import os
import threading
import time

import corpus
import pytest

import twinsift

# Each stage long enough to be met: a corpus that is signed, joined and searched for some seconds in the child.
SIGNALLED = """
import os, signal, sys, threading, time
sys.path.insert(0, sys.argv[1])
import corpus, random, twinsift
generator = random.Random(1)
what, delay = sys.argv[2], float(sys.argv[3])
base = [corpus.document(generator, 250) for _ in range(400)]
if what in ("template", "query"):
    page = corpus.document(generator, 250)
    texts = [corpus.edited(generator, page, 12) for _ in range(3000 if what == "query" else 12000)]
elif what == "long texts":
    texts = [corpus.document(generator, 200_000)] * 2000
elif what == "distance":
    texts = ["".join(generator.choices("abcd", k=400_000)) for _ in range(2)]
else:
    texts = [corpus.edited(generator, generator.choice(base), 3) for _ in range(25000)]
begun = []
def interrupt():
    while not begun:
        time.sleep(0.001)
    time.sleep(delay)
    begun.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt, daemon=True).start()
if what == "query":
    index = twinsift.Index.create("q.twin")
    index.add(range(len(texts)), texts)
begun.append(0)
try:
    while True:
        if what in ("sign", "long texts"):
            twinsift.Signer().sign_many(texts, threads=1)
        elif what == "query":
            index.query_many(texts, threads=1)
        elif what == "distance":
            twinsift.edit_distance(*texts)
            twinsift.similarity(*texts, measure="edit")
        elif what == "dedup":
            twinsift.dedup(texts, threads=2)
        elif what == "index":
            with twinsift.Index.create("i.twin", replace=True) as index:
                index.add(range(len(texts)), texts)
                index.query_many(texts[:2000])
        elif what == "edit":
            twinsift.pairs([text[:60] for text in texts], measure="edit", threshold=0.5, threads=1)
        else:
            twinsift.pairs(texts, threshold=0.6 if what == "template" else 0.5, threads=1)
except KeyboardInterrupt:
    print(time.monotonic() - begun[1])
"""


@pytest.mark.parametrize("what, delay", [
    ("sign", 0.15), ("pairs", 0.2), ("pairs", 1.5), ("dedup", 1.0), ("template", 0.3), ("template", 2.0), ("index", 0.7), ("edit", 0.5),
    ("query", 0.5), ("long texts", 0.5), ("distance", 0.3),
])
def test_control_c_stops_every_stage_within_a_second(python, what, delay):
    done = python(SIGNALLED, os.path.dirname(__file__), what, delay, timeout=120)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 1.0 + 0.1 * os.getloadavg()[0], "seconds after the signal"


def test_other_threads_run_meanwhile():
    generator = __import__("random").Random(1)
    texts = [corpus.document(generator, 200) for _ in range(5000)]
    ticks, done = [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    begin = time.monotonic()
    twinsift.pairs(texts, threads=1)
    end = time.monotonic()
    done.set()
    thread.join()
    inside = [one for one in ticks if begin < one < end]
    assert len(inside) > 3, f"{len(inside)} ticks in {end - begin:.2f} s"


def test_a_progress_callback_is_called_and_what_it_raises_is_raised():
    generator = __import__("random").Random(2)
    texts = [corpus.document(generator, 300) for _ in range(20_000)] * 16
    calls = []
    twinsift.pairs(texts, progress=lambda *call: calls.append(call), threads=1)
    assert calls and all(isinstance(stage, str) and done >= 0 and total >= 0 for stage, _, done, total in calls)

    def fail(*call):
        raise RuntimeError("enough")

    for run in (twinsift.pairs, twinsift.dedup, twinsift.Signer().sign_many):
        with pytest.raises(RuntimeError, match="enough"):
            run(texts, progress=fail, threads=1)


def test_a_bar_of_tqdm_is_drawn(capsys, texts):
    pytest.importorskip("tqdm")
    twinsift.pairs(texts, progress=True)
    twinsift.pairs(texts, progress=False)


def test_many_threads_run_at_once(texts):
    expected = list(twinsift.pairs(texts, threshold=0.6))
    signer, results = twinsift.Signer(), []

    def run():
        results.append(list(twinsift.pairs(texts, threshold=0.6, threads=2)))
        signer.sign_many(texts, threads=2)

    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expected] * 8


def test_a_child_of_fork_can_run(texts):
    expected = list(twinsift.pairs(texts, threads=2))
    child = os.fork()
    if child == 0:
        os._exit(0 if list(twinsift.pairs(texts, threads=2)) == expected else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_the_interpreter_may_exit_during_a_run(python):
    done = python(
        """
import sys, threading, time
sys.path.insert(0, sys.argv[1])
import corpus, random, twinsift
generator = random.Random(1)
texts = [corpus.document(generator, 250) for _ in range(3000)] * 4
def forever():
    while True:
        twinsift.pairs(texts, threads=2)
for _ in range(2):
    threading.Thread(target=forever, daemon=True).start()
time.sleep(0.3)
""",
        os.path.dirname(__file__),
    )
    assert done.returncode == 0 and "Fatal" not in done.stderr, done.stderr


def test_workers_of_others_use_one_thread(python):
    done = python(
        """
import multiprocessing, twinsift
from twinsift._options import threads_of
def inside(_):
    return threads_of(0), threads_of(3)
if __name__ == "__main__":
    assert threads_of(0) == 0
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.map(inside, [0]) == [(1, 3)]
"""
    )
    assert done.returncode == 0, done.stderr


def resident():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_memory_stays_flat_in_a_loop(texts, tmp_path):
    arrow = pytest.importorskip("pyarrow")
    array = arrow.array(texts)
    index = twinsift.Index.create(tmp_path / "x")
    index.add(range(len(texts)), texts)

    def once():
        arrow.table(twinsift.pairs(array, threshold=0.6))
        arrow.table(twinsift.dedup(texts, against=array))
        arrow.array(twinsift.Signer().sign_many(array.slice(10)))
        index.query_many(texts[:50])
        index.get(5), list(index), index.pairs()
        twinsift.BloomFilter(1000).update(texts)
        for bad in (["a", 1], ["\ud800"]):
            with pytest.raises((TypeError, ValueError)):
                twinsift.pairs(bad)

    for _ in range(20):
        once()
    gc.collect()
    before = resident()
    for _ in range(60):
        once()
    gc.collect()
    # A leak of the signatures or texts alone would be 150 KB for each of 60 rounds.
    assert resident() - before < 4_000_000
    index.close()
