"""What an operator meets: two servers on one model, a folder that may not be written, a disk that is full, a clock that is
set. Mail is judged all the while, what was acknowledged stays, and what fails says why."""

import json
import os
import subprocess
import threading
import time

from frame import MAIL, SANITIZED, SAMPLES, TEXT, Server, check, end, program, sample, skip_without_server, wait_until

skip_without_server()
MESSAGE = sample("mail", "new.eml")
NAMESPACE = ["unshare", "-m", "bash", "-euc"]
CAN_MOUNT = os.getuid() == 0 and subprocess.run([*NAMESPACE, "mount -t tmpfs none ."], capture_output=True, check=False).returncode == 0


def numbered(i):
    return f"Subject: number {i}\nMessage-ID: <{i}@x>\nFrom: a{i}@x.example\n\nwords of number {i} {i * 7919}\n"


def learn(server, message):
    return server.post("/v1/mail/learn?label=spam", message, MAIL, token=True)


def judged(server, what):
    answer = server.post("/v1/mail/check", MESSAGE, MAIL)
    check(answer.status == 200 and answer.json["label"] == "spam", f"{what}: {answer.status} {answer.body[:200]}")


def make(folder):
    os.makedirs(folder, exist_ok=True)
    for label in "ham", "spam":
        program("mail", "learn", "--quiet", "-m", f"{folder}/mail.twin", "--as", label, os.path.join(SAMPLES, "mail", label))
    program("index", "create", f"{folder}/news.twin", "--keep", "text")
    program("index", "add", "--quiet", f"{folder}/news.twin", os.path.join(SAMPLES, "articles.jsonl"))
    return ["--model", f"{folder}/mail.twin", "--index", f"{folder}/news.twin"]


def two_servers():
    files = make("both")
    with Server(*files) as one, Server(*files, log="other.log") as other:
        def teach(server, first):
            for i in range(first, first + 30):
                effect = learn(server, numbered(i))
                check(effect.status == 200 and effect.json["effect"] == "learnt", f"number {i}: {effect.body}")

        threads = [threading.Thread(target=teach, args=each) for each in ((one, 0), (other, 1000))]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            check(one.post("/v1/mail/check", MESSAGE, MAIL).status == 200, "mail is judged while both learn")
        messages = lambda server: server.get("/v1/mail").json["messages"]  # noqa: E731
        check(wait_until(lambda: messages(one) == messages(other) == 28 + 60), f"both see both: {messages(one)}, {messages(other)}")
        check(learn(other, numbered(3)).json["effect"] == "known", "what one has learnt the other knows")
        check(other.post("/v1/mail/forget", numbered(4), MAIL, token=True).json["effect"] == "forgotten", "and can forget")
        check(wait_until(lambda: messages(one) == 28 + 59), "which the first one sees")
    told = json.loads(program("mail", "info", "-m", "both/mail.twin", "--json"))["messages"]
    check(told == 28 + 59, f"the file has {told} messages")


def fails(answer, reason, where):
    check(answer.status == 500 and reason in answer.json["error"]["message"], f"{where}: {answer.status} {answer.body[:200]}")


def read_only():
    files = make("fixed")
    script = 'mount --bind fixed fixed && mount -o remount,ro,bind fixed && exec "$@"'
    with Server(*files, prefix=[*NAMESPACE, script, "bash"], log="fixed.log") as server:
        judged(server, "a model that cannot be written")
        text = json.loads(sample("articles.jsonl").splitlines()[0])["text"]
        found = server.post("/v1/indexes/news/query", text, TEXT)
        check(found.status == 200 and found.json["matches"], f"an index that cannot be written: {found.body[:200]}")
        fails(learn(server, numbered(1)), "Read-only", "learning")
        fails(server.request("PUT", "/v1/indexes/news/documents/mine", "a text of mine", TEXT, token=True), "Read-only", "adding")
        judged(server, "after what failed")
        check(server.get("/readyz").status == 200 and "Read-only" in server.logged(), f"the log says why: {server.logged()[-300:]}")


def full_disk():
    make("small")
    room = sum(os.path.getsize(f"small/{name}") for name in os.listdir("small")) // 1024 + 256
    script = f'cp -r small kept && mount -t tmpfs -o size={room}k none small && cp kept/* small && exec "$@"'
    with Server("--model", "small/mail.twin", "--index", "small/news.twin", prefix=[*NAMESPACE, script, "bash"], log="full.log") as server:
        good, answer = 0, learn(server, numbered(0))
        while answer.status == 200 and good < 3000:
            good += 1
            answer = learn(server, numbered(good))
        fails(answer, "No space left", f"learning with a full disk, after {good}")
        judged(server, "with a full disk")
        check(server.get("/v1/mail").json["messages"] == 28 + good, f"the {good} that were acknowledged are there")
        check(learn(server, numbered(good - 1)).json.get("effect") == "known", "and known")
        check("No space left" in server.logged(), f"the log says why: {server.logged()[-300:]}")
        print(f"a full disk after {good} messages")


def set_clock(days):
    with open("clock.new", "w", encoding="ascii") as file:
        file.write(str(86400 * days))
    os.replace("clock.new", "clock")


def clock_steps():
    set_clock(0)
    env = {"LD_PRELOAD": os.environ["TWINSIFT_CLOCK_SHIFT"], "CLOCK_SHIFT": os.path.abspath("clock")}
    files = make("timed")
    with Server(*files, env=env, log="timed.log") as server:
        number = 0
        for step in 0, 400, -400, 0:
            set_clock(step)
            now = server.get("/v1/overview").json["now"] - time.time()
            check(abs(now - 86400 * step) < 3600, f"the clock of the server is at {now / 86400:.1f} days")
            for _ in range(3):
                number += 1
                begun = time.monotonic()
                check(learn(server, numbered(number)).json == {"effect": "learnt"}, f"learning at {step} days")
                check(time.monotonic() - begun < 60, f"learning takes {time.monotonic() - begun:.1f} s at {step} days")
            judged(server, f"at {step} days")
            program("mail", "learn", "--quiet", "-m", "timed/mail.twin", "--as", "ham", write(numbered(9000 + number)))
            number_there = lambda: server.get("/v1/mail").json["messages"]  # noqa: E731
            check(wait_until(lambda: number_there() == 28 + number + number // 3), f"what others learn is noticed at {step} days: {number_there()}")
            overview = server.get("/v1/overview").json
            check(len(overview["requests"]) == 59 and all(count >= 0 for count in overview["requests"]), f"the overview at {step} days")
            check(server.get("/metrics").status == 200 and "-" not in snapshot_age(server), f"no age is negative at {step} days")
        check(server.stop() == 0, "the end is in order")


def write(message):
    with open("one.eml", "w", encoding="utf-8") as file:
        file.write(message)
    return "one.eml"


def snapshot_age(server):
    text = server.get("/metrics").body.decode()
    return next(line for line in text.splitlines() if line.startswith("twinsift_mail_snapshot_age_seconds "))


two_servers()
if CAN_MOUNT:
    read_only()
    full_disk()
else:
    print("skipped: no mounts can be made here: a folder that cannot be written, a full disk")
if SANITIZED:
    print("skipped: sanitizers are loaded first, so that the clock cannot be set")
else:
    clock_steps()
end()
