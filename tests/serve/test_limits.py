"""Slow, dead and hostile clients do not hold the server; it drains, reopens, and says what is wrong."""

import json
import os
import random
import re
import resource
import signal
import socket
import subprocess
import threading
import time

from frame import JSON, LINES, MAIL, SAMPLES, TEXT, Server, check, end, program, sample, skip_without_server, wait_until

skip_without_server()
resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, resource.getrlimit(resource.RLIMIT_NOFILE)[1]),) * 2)
program("index", "create", "news.twin", "--keep", "text")
program("index", "add", "--quiet", "news.twin", os.path.join(SAMPLES, "articles.jsonl"))
MESSAGE = sample("mail", "new.eml")
HOST = b"Host: localhost\r\n"


def memory_of(server):
    pid = subprocess.run(["ps", "-o", "pid=", "--ppid", str(server.process.pid)], capture_output=True, text=True, check=False)
    pid = int(pid.stdout.split()[0]) if pid.stdout.strip() else server.process.pid
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS")) / 1024


def raw(server, text=b""):
    sock = socket.create_connection(("127.0.0.1", server.port))
    if text:
        sock.sendall(text)
    return sock


def is_closed(sock, seconds):
    """Whether the server ends the connection within so many seconds."""
    sock.settimeout(seconds)
    try:
        while sock.recv(65536):
            pass
        return True
    except TimeoutError:
        return False
    except OSError:
        return True


def trickle(sock, text, stop):
    for byte in text:
        if stop.is_set():
            return
        try:
            sock.send(bytes([byte]))
        except OSError:
            return
        time.sleep(0.3)


def silent_clients():
    with Server("--model", "mail.twin", "--index", "news.twin", "--timeout", "4") as server:
        server.post("/v1/mail/check", MESSAGE, MAIL)
        before = memory_of(server)
        many = [raw(server) for _ in range(1000)]
        half = [raw(server, b"POST /v1/mail/check HTTP/1.1\r\n" + HOST) for _ in range(100)]
        took = []
        for _ in range(20):
            begun = time.monotonic()
            check(server.post("/v1/mail/check", MESSAGE, MAIL).status == 200, "a message among silent clients")
            took.append(time.monotonic() - begun)
        grown = memory_of(server) - before
        print(f"1,100 silent connections: {grown:.1f} MB, a check {sorted(took)[10] * 1000:.1f} ms")
        check(os.environ.get("TWINSIFT_SANITIZED") or grown < 64, f"1,100 silent connections take {grown:.1f} MB")
        check(all(is_closed(sock, 60) for sock in (many[0], many[-1], half[0], half[-1])), "silent clients are closed")
        for sock in many + half:
            sock.close()


def slow_clients():
    with Server("--model", "mail.twin", "--timeout", "2") as server:
        stop = threading.Event()
        texts = [b"GET /v1/mail HTTP/1.1\r\nX-A: " + b"a" * 1000,
                 b"POST /v1/mail/check HTTP/1.1\r\n" + HOST + b"Content-Type: message/rfc822\r\nContent-Length: 1000\r\n\r\n"]
        socks = [raw(server), raw(server, texts[1])]
        for sock, text in zip(socks, (texts[0], b"x" * 999)): # which would take five minutes
            threading.Thread(target=trickle, args=(sock, text, stop), daemon=True).start()
        check(all(is_closed(sock, 60) for sock in socks), "one byte now and then does not keep a connection")
        stop.set()
        reader = raw(server)
        reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        reader.sendall(b"GET /page/method.js HTTP/1.1\r\n" + HOST + b"\r\n")
        check(server.get("/healthz").status == 200, "a client that does not read holds nobody")
        chunked = raw(server, b"POST /v1/mail/check HTTP/1.1\r\n" + HOST + b"Content-Type: message/rfc822\r\nTransfer-Encoding: chunked\r\n\r\n")
        try:
            for _ in range(200):
                chunked.sendall(b"20000\r\n" + b"x" * 0x20000 + b"\r\n")
        except OSError:
            pass
        check(is_closed(chunked, 60), "a body without end is not read to its end")
        check(server.get("/healthz").status == 200, "and the server goes on")


def broken_requests():
    """Bytes that are nearly requests: none of them ends the server, and each is answered or closed."""
    rng = random.Random(1)
    seeds = [b"POST /v1/mail/check?explain=3 HTTP/1.1\r\nHost: localhost\r\nContent-Type: message/rfc822\r\nContent-Length: 20\r\n\r\nSubject: x\r\n\r\nabc def",
             b"GET /v1/indexes/news/documents/a%2fb%00c HTTP/1.1\r\nHost: [::1]:80\r\n\r\n",
             b'POST /v1/indexes/news/query HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n12\r\n{"text":"abc def"}\r\n0\r\n\r\n']
    with Server("--model", "mail.twin", "--index", "news.twin", "--timeout", "5") as server:
        for _ in range(300 if not os.environ.get("TWINSIFT_SANITIZED") else 100):
            text = bytearray(rng.choice(seeds))
            for _ in range(rng.randrange(6)):
                at = rng.randrange(len(text))
                text[at:at + rng.randrange(3)] = bytes(rng.choice([0, 10, 13, 32, 37, 47, 58, 255, rng.randrange(256)]) for _ in range(rng.randrange(3)))
            sock = raw(server)
            sock.settimeout(0.05)
            try:
                sock.sendall(bytes(text))
                sock.recv(4096)
            except OSError:
                pass
            sock.close()
        check(server.get("/healthz").status == 200, "the server is alive after broken requests")
        check(server.stop() == 0, "and ends in order")


def long_streams():
    """More answers than fit into memory limits, in order; a bad line in the middle is one error."""
    with Server("--index", "news.twin") as server:
        text = json.loads(sample("articles.jsonl").splitlines()[0])["text"]
        lines = [json.dumps({"id": i, "text": text}) for i in range(9000)]
        lines[4321] = '{"id":4321'
        answer = server.post("/v1/indexes/news/query", "\n".join(lines), LINES)
        got = answer.lines
        check(len(got) == 9000 and len(answer.body) > 1 << 20, f"{len(got)} answers in {len(answer.body)} bytes")
        for each in 1, 10, 150: # chunks of so many lines, of which many come at once
            def chunks(each=each):
                for at in range(0, 9000, each):
                    yield ("\n".join(lines[at:at + each]) + "\n").encode()
            chunked = server.post("/v1/indexes/news/query", chunks(), LINES, headers={"Transfer-Encoding": "chunked"})
            check(chunked.body == answer.body, f"chunks of {each} lines: {len(chunked.lines)} answers")
        check(got[4321]["error"]["line"] == 4322, "the bad line is an error in its place")
        check(all(l["id"] == i for i, l in enumerate(got) if i != 4321), "the others are in order")


def heavy_collections():
    """Collections whose pairs are many: refused, in bounded memory."""
    rng = random.Random(1)
    words = [f"w{i}" for i in range(4000)]
    page = [rng.choice(words) for _ in range(60)]
    lines = []
    for i in range(2500):
        copy = list(page)
        copy[rng.randrange(60)] = rng.choice(words)
        lines.append(json.dumps({"id": i, "text": " ".join(copy)}))
    with Server("--index", "news.twin") as server:
        before = memory_of(server)
        answer = server.post("/v1/pairs?threshold=0.3", "\n".join(lines), LINES)
        error = answer.lines[-1]["error"]
        check(error["code"] == "limit" and "1000000" in error["message"], f"three million pairs: {error}")
        grown = memory_of(server) - before
        check(os.environ.get("TWINSIFT_SANITIZED") or grown < 150, f"three million pairs take {grown:.0f} MB")
        answer = server.post("/v1/pairs?threshold=0.3", "\n".join(lines[:300]), LINES).lines[-1]
        check(answer["documents"] == 300 and len(answer["pairs"]) == 5000 and answer["incomplete"], "the first pairs of more")
        check(wait_until(lambda: held(server) == 0), "what was held for the collections is given back")


def held(server):
    """The bytes of bodies that the server has in memory."""
    return int(re.search(r"^twinsift_body_bytes (\d+)$", server.get("/metrics").body.decode(), re.M)[1])


def drains_and_reopens():
    with open("token", "w", encoding="ascii") as file:
        file.write("a token of the first kind\n")
    os.chmod("token", 0o600)
    with Server("--model", "mail.twin", "--index", "news.twin", "--token-file", "token") as server:
        check("token=" not in server.link, "a token of a file is not printed")
        learn = lambda token: server.post("/v1/mail/learn?label=spam", MESSAGE, MAIL, token=token).status  # noqa: E731
        check(learn("a token of the first kind") == 200, "the token of the file")
        with open("token", "w", encoding="ascii") as file:
            file.write("a token of another kind\n")
        program("index", "compact", "news.twin")
        server.process.send_signal(signal.SIGHUP)
        check(wait_until(lambda: learn("a token of another kind") == 200), "SIGHUP reads the token again")
        check(learn("a token of the first kind") == 401, "the old one is refused")
        check(server.get("/v1/indexes/news").json["documents"] == 12, "an index that was compacted is opened again")
        program("index", "compact", "news.twin")
        program("index", "remove", "news.twin", "a12")
        check(wait_until(lambda: server.get("/v1/indexes/news").json.get("documents") == 11), "also without being told")
        check("still" not in server.logged(), "the old file is not in the way")
        results = []
        body = "".join(json.dumps({"message": MESSAGE.decode("latin-1")}) + "\n" for _ in range(3000))
        thread = threading.Thread(target=lambda: results.append(server.post("/v1/mail/check", body, LINES)))
        thread.start()
        wait_until(lambda: held(server) > 0 or results)
        server.process.send_signal(signal.SIGTERM)
        thread.join()
        check(results and len(results[0].lines) == 3000, "what had begun is completed")
        check(server.process.wait(60) == 0, "and the end is in order")
    os.chmod("token", 0o644)
    said = subprocess.run([os.environ["TWINSIFT"], "serve", "--http", "127.0.0.1:0", "--token-file", "token"],
                          capture_output=True, text=True, check=False)
    check(said.returncode == 2 and "others may read" in said.stderr, "a token that others may read is refused")
    said = subprocess.run([os.environ["TWINSIFT"], "serve", "--http", "0.0.0.0:0"], capture_output=True, text=True, check=False)
    check(said.returncode == 2 and "--token-file" in said.stderr, "other addresses only with a token")


def learning_survives_kills():
    """Killed at any moment, nothing that was acknowledged is lost, and the model can be read."""
    kills = 6 if os.environ.get("TWINSIFT_SANITIZED") else 100
    acknowledged, number = set(), 0
    for _ in range(kills):
        server = Server("--model", "killed.twin")
        threads = []

        def learn(first, to=server):
            for i in range(first, first + 1000):
                message = f"Subject: number {i}\nMessage-ID: <{i}@x>\nFrom: a{i}@x.example\n\nwords of number {i} {i * 7919}\n"
                try:
                    if to.post("/v1/mail/learn?label=spam", message, MAIL, token=True).status == 200:
                        acknowledged.add(i)
                except OSError:
                    return
                except Exception:  # pylint: disable=broad-except
                    return

        for _ in range(3):
            threads.append(threading.Thread(target=learn, args=(number,)))
            number += 1000
        for thread in threads:
            thread.start()
        time.sleep(random.uniform(2, 4) if os.environ.get("TWINSIFT_SANITIZED") else random.uniform(0.1, 0.4))
        server.stop(signal.SIGKILL)
        for thread in threads:
            thread.join()
    info = json.loads(program("mail", "info", "-m", "killed.twin", "--json"))
    print(f"{kills} kills, {len(acknowledged)} acknowledged, {info['messages']} in the model")
    check(info["messages"] >= len(acknowledged) > 0, f"{len(acknowledged)} were acknowledged, {info['messages']} are there")
    with Server("--model", "killed.twin") as server:
        for i in random.Random(2).sample(sorted(acknowledged), min(40, len(acknowledged))):
            message = f"Subject: number {i}\nMessage-ID: <{i}@x>\nFrom: a{i}@x.example\n\nwords of number {i} {i * 7919}\n"
            effect = server.post("/v1/mail/learn?label=spam", message, MAIL, token=True).json["effect"]
            check(effect == "known", f"number {i} was acknowledged and is {effect}")


def trouble_is_said():
    with open("damaged.twin", "wb") as file:
        file.write(b"no index" * 5000)
    said = subprocess.run([os.environ["TWINSIFT"], "serve", "--http", "127.0.0.1:0", "--index", "damaged.twin"],
                          capture_output=True, text=True, check=False)
    check(said.returncode == 2 and "damaged.twin" in said.stderr, "a damaged index is named")
    with Server("--model", "kept.twin", "--index", "news.twin", log="trouble.log") as server:
        server.post("/v1/mail/learn?label=spam", MESSAGE, MAIL, token=True)
        os.replace("damaged.twin", "kept.twin")
        check(wait_until(lambda: "kept.twin" in server.logged()), "that the file is damaged is noticed")
        check(server.post("/v1/mail/check", MESSAGE, MAIL).status == 200, "mail is judged with what was loaded before")
        failed = server.post("/v1/mail/learn?label=spam", b"Subject: other\n\nother\n", MAIL, token=True)
        check(failed.status == 500 and failed.json["error"]["message"], f"learning fails: {failed.status} {failed.body}")
        errors = server.get("/v1/overview").json["errors"]
        check(errors and "kept.twin" in errors[0]["message"], "and the page, too")
        with Server("--model", "other.twin", "--index", "news.twin") as other:
            put = lambda at: at.request("PUT", "/v1/indexes/news/documents/mine", "a text of mine", TEXT, token=True)  # noqa: E731
            check(put(other).status == 200, "another server writes the index")
            check(put(server).status == 200, "so does this one")
            check(other.get("/v1/indexes/news/documents/mine").status == 200, "and both see it")
    few = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (80, 80))  # noqa: E731
    process = subprocess.Popen([os.environ["TWINSIFT"], "serve", "--http", "127.0.0.1:0", "--model", "mail.twin"], preexec_fn=few,
                               stdout=subprocess.PIPE, stderr=open("few.log", "w", encoding="ascii"), text=True)
    port = int(process.stdout.readline().split(":")[2].split("/")[0])
    socks = [socket.create_connection(("127.0.0.1", port)) for _ in range(120)]
    def logged():
        with open("few.log", encoding="ascii") as file:
            return file.read()

    check(wait_until(lambda: "too many" in logged()), f"the log says that there are too many open files: {logged()}")
    for sock in socks:
        sock.close()
    import http.client
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", "/healthz")
    check(connection.getresponse().status == 200, "after too many open files the server goes on")
    process.terminate()
    process.wait(60)


for part in (silent_clients, slow_clients, broken_requests, long_streams, heavy_collections, drains_and_reopens, learning_survives_kills, trouble_is_said):
    begun = time.monotonic()
    part()
    print(f"{part.__name__}: {time.monotonic() - begun:.1f} s", flush=True)
end()
