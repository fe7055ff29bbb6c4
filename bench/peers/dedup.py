"""Measures and scores for dedup.sh.

dedup.py words                        generated documents in, the same of lower-case words and single blanks out
dedup.py compare BUILD RULE LIMIT     runs every tool on corpus.jsonl, holds it against truth.tsv, prints a table

Time is that of the whole process, interpreter and reading included. Memory and CPU time are sums over all processes of
a tool, taken every tenth of a second, or what the system says of the first process in the end if that is more.

Pairs that a tool reports are held against the true pairs. Of a tool that only removes documents, recall is the share of
the true pairs of which at most one is left, and precision the share of the removed that are similar to any document,
which is lenient. To count the removed where pairs are reported, each document is removed that is similar, by these pairs, to
one that stays, in the order of the input, as `twinsift dedup` does.
"""
import json
import os
import re
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))

# Package, environment, script, setting, for which rules, and what is said of it.
PEERS = [
    ("gaoya", "small", "gaoya", "", "word char", "25×5, estimate"),
    ("daft", "small", "daft", "", "word", "25×5 and exact check by us"),
    ("rensa", "small", "rensa", "readme", "word", "as in its README, 8×16, removes"),
    ("rensa", "small", "rensa", "32x4", "word char", "32×4, estimate"),
    ("FastSketchLSH", "small", "fastsketchlsh", "", "word char", "32×4, estimate"),
    ("fastrustrag", "small", "fastrustrag", "", "word", "32×4, estimate"),
    ("datasketch", "small", "datasketch", "plan", "word char", "as it plans, 9×13"),
    ("datasketch", "small", "datasketch", "checked", "word char", "25×5 and exact check by us"),
    ("simhash", "small", "simhash", "", "word", "64 bits of which 3 may differ"),
    ("text-dedup", "text-dedup", "text_dedup", "plan", "word", "as it plans, 9×13, removes"),
    ("py-data-juicer", "data-juicer", "data_juicer", "", "word char", "as it plans, 9×13, removes"),
    ("datatrove", "datatrove", "datatrove", "", "word", "14×8, removes"),
]


def words():
    for line in sys.stdin:
        record = json.loads(line)
        record["text"] = " ".join(re.sub(r"[\W_]", " ", record["text"].lower()).split())
        print(json.dumps(record))


# ---- measuring


def usage_of(session):
    """The memory of all processes of a session, in bytes, each page that several share counted once; and their CPU
    seconds, with those of children that have ended."""
    memory = ticks = 0
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and os.getsid(int(name)) == session:
                with open(f"/proc/{name}/smaps_rollup", encoding="ascii") as file:
                    memory += 1024 * int(re.search(r"^Pss: +([0-9]+)", file.read(), re.MULTILINE).group(1))
                with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                    ticks += sum(int(field) for field in file.read().rsplit(")", 1)[1].split()[11:15])
        except (OSError, AttributeError):  # it has ended
            pass
    return memory, ticks / os.sysconf("SC_CLK_TCK")


def watch(process, peak, limit):
    """Keeps the highest memory and CPU time in peak, and stops the session after its time."""
    begin = time.monotonic()
    while process.returncode is None:
        peak[:2] = map(max, peak, usage_of(process.pid))
        if time.monotonic() - begin > limit:
            peak[2] = True
            os.killpg(process.pid, 9)
            return
        time.sleep(0.1)


def measure(command, limit):
    """The output, wall and CPU seconds and bytes of memory; None instead of the output if it failed or took too long."""
    begin, peak = time.monotonic(), [0, 0, False]
    with open("output.txt", "w+b") as output, open("errors.txt", "wb") as errors:
        process = subprocess.Popen(command, stdout=output, stderr=errors, start_new_session=True)
        watcher = threading.Thread(target=watch, args=(process, peak, limit))
        watcher.start()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = status
        wall = time.monotonic() - begin
        watcher.join()
        output.seek(0)
        lines = [line.split("\t") for line in output.read().decode().splitlines()]
    if status != 0:
        with open("errors.txt", encoding="utf-8", errors="replace") as errors:
            why = f"stopped after {limit:.0f} s" if peak[2] else "failed: " + "".join(errors.readlines()[-1:]).strip()[:80]
        return None, why
    return lines, (wall, max(peak[1], usage.ru_utime + usage.ru_stime), max(peak[0], 1024 * usage.ru_maxrss))


# ---- scoring


def similar_to(pairs):
    found = {}
    for a, b in pairs:
        found.setdefault(a, set()).add(b)
        found.setdefault(b, set()).add(a)
    return found


def removed_by(ids, pairs):
    near, kept = similar_to(pairs), set()
    for one in ids:
        if near.get(one, set()).isdisjoint(kept):
            kept.add(one)
    return set(ids) - kept


def score(lines, ids, truth):
    """Recall, precision, how many are removed, and how many of them are similar to nothing."""
    partners = similar_to(truth)
    if lines and len(lines[0]) == 1:
        removed = {line[0] for line in lines}
        recall = sum(a in removed or b in removed for a, b in truth) / len(truth)
        wrong = sum(one not in partners for one in removed)
        return recall, 1 - wrong / max(1, len(removed)), len(removed), wrong
    order = {one: number for number, one in enumerate(ids)}
    pairs = {(line[0], line[1]) if order[line[0]] < order[line[1]] else (line[1], line[0]) for line in lines}
    removed = removed_by(ids, pairs)
    right = len(pairs & truth)
    wrong = sum(one not in partners for one in removed)
    return right / len(truth), right / max(1, len(pairs)), len(removed), wrong


# ---- the table


def version_of(package, environment):
    code = f"import importlib.metadata as m; print(m.version('{package}'))"
    shown = subprocess.run([environment + "/bin/python", "-c", code], capture_output=True, text=True, check=False)
    return shown.stdout.strip()


def seconds(value):
    return f"{value:.3f}" if value < 1 else f"{value:.2f}" if value < 10 else f"{value:.1f}"


def row(name, result, ids, truth, ours):
    lines, cost = result
    if lines is None:
        print(f"| {name} | {cost} | | | | | | | |", flush=True)
        return
    recall, precision, removed, wrong = score(lines, ids, truth)
    wall, cpu, memory = cost
    times = f"{wall / ours:.0f}" if wall > 1.5 * ours else ""
    print(
        f"| {name} | {seconds(wall)} | {seconds(cpu)} | {memory / 1e6:,.0f} | {recall:.4f} | {precision:.4f} "
        f"| {removed:,} | {wrong:,} | {times} |",
        flush=True,
    )


def kept_to_removed(result, ids):
    lines, cost = result
    if lines is None:
        return result
    with open("kept.jsonl", encoding="utf-8") as file:
        kept = {json.loads(line)["id"] for line in file}
    return [[one] for one in ids if one not in kept], cost


def best_of(runs, command, limit):
    results = [measure(command, limit) for _ in range(runs)]
    good = [result for result in results if result[0] is not None]
    return min(good, key=lambda result: result[1][0]) if good else results[0]


def compare(build, rule, limit):
    with open("corpus.jsonl", encoding="utf-8") as file:
        ids = [json.loads(line)["id"] for line in file]
    with open("truth.tsv", encoding="utf-8") as file:
        truth = {tuple(line.split("\t")[:2]) for line in file}
    size = os.path.getsize("corpus.jsonl")
    print(f"\n{len(ids):,} documents, {size / 1e6:.0f} MB, {rule}, {len(truth):,} pairs with a similarity of at least 0.8\n")
    print("| tool | wall, s | CPU, s | MB | recall | precision | removed | wrongly | times as long |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    program = [build + "/twinsift"]
    pairs = program + ["pairs", "--quiet", "--copies", "all", "--shingle", rule, "corpus.jsonl"]
    result = best_of(5, pairs, limit)
    ours = result[1][0]
    row("**twinsift pairs**", result, ids, truth, ours)
    dedup = program + ["dedup", "--quiet", "--shingle", rule, "-o", "kept.jsonl", "corpus.jsonl"]
    row("**twinsift dedup**: writes what is kept", kept_to_removed(best_of(5, dedup, limit), ids), ids, truth, ours)
    for package, environment, script, setting, rules, what in PEERS:
        wanted = os.environ.get("BENCH_TOOLS", package)
        if rule.split(":")[0] not in rules.split() or package not in wanted.split():
            continue
        version = version_of(package, environment)
        if not version:
            print(f"| {package}: {what} | not installed | | | | | | | |")
            continue
        command = [environment + "/bin/python", f"{HERE}/run_{script}.py", "corpus.jsonl", rule, setting]
        row(f"{package} {version}: {what}", measure(command, limit), ids, truth, ours)


if sys.argv[1] == "words":
    words()
else:
    compare(sys.argv[2], sys.argv[3], float(sys.argv[4]))
