"""Every route answers as documented, and refuses what it should, with the proper status."""

import json
import os
import subprocess
import urllib.parse

from frame import JSON, LINES, MAIL, SAMPLES, TEXT, Server, check, end, program, sample, skip_without_server

skip_without_server()


def make_data():
    program("index", "create", "news.twin", "--keep", "text")
    program("index", "add", "--quiet", "news.twin", os.path.join(SAMPLES, "articles.jsonl"))
    for label in "ham", "spam":
        program("mail", "learn", "--quiet", "-m", "mail.twin", "--as", label, os.path.join(SAMPLES, "mail", label))


def error_of(answer):
    return answer.json.get("error", {})


def refused(answer, status, code, what):
    check(answer.status == status and error_of(answer).get("code") == code and error_of(answer).get("message"),
          f"{what}: {answer.status} {answer.body[:200]}")


def mail(server):
    message = sample("mail", "new.eml").replace(b"850,000 EUR", b"1,850,000 dollars")
    answer = server.post("/v1/mail/check?explain=5", message, MAIL).json
    told = json.loads(subprocess.run(
        [os.environ["TWINSIFT"], "mail", "check", "-m", "mail.twin", "--json", "--exit-zero"], input=message,
        capture_output=True, check=True).stdout)
    check(answer["label"] == told["verdict"], f"the verdict {answer['label']} is {told['verdict']} of the command")
    check(answer["score"] == told["score"] and answer["log_odds"] == told["log_odds"], "the score is the command's")
    check(len(answer["words"]) == 5 and answer["nearest"]["similarity"] > 0.6, "words and the nearest message")
    check(answer["nearest"]["text"], "the text of the nearest message")
    check(any(part["kind"] != "equal" for part in answer["differences"]), "the differences are marked")
    check("evidence" not in server.post("/v1/mail/check", message, MAIL).json, "evidence only where it is wanted")

    info = server.get("/v1/mail").json
    check(info["bytes"] == os.path.getsize("mail.twin") and info["messages"] == 28 and {l["label"] for l in info["labels"]} == {"spam", "ham"}, "the model is described")
    friend = sample("mail", "friend.eml")
    for path, effect in (("learn?label=ham", "learnt"), ("learn?label=ham", "known"), ("correct?label=spam", "corrected"),
                         ("forget", "forgotten"), ("forget", "unknown")):
        answer = server.post("/v1/mail/" + path, friend, MAIL, token=True)
        check(answer.status == 200 and answer.json == {"effect": effect}, f"{path}: {answer.body}")
    server.post("/v1/mail/learn?label=ham", friend, MAIL, token=True)
    check(server.get("/v1/mail").json["messages"] == 29, "what was learnt is seen at once")
    check('"messages":29' in program("mail", "info", "-m", "mail.twin", "--json").replace(" ", ""), "and in the file")
    refused(server.post("/v1/mail/learn", friend, MAIL, token=True), 400, "invalid", "no label")
    refused(server.post("/v1/mail/learn?label=a%20b", friend, MAIL, token=True), 400, "invalid", "not a label")
    many = "".join(json.dumps({"id": i, "message": message.decode("latin-1")}) + "\n" for i in range(3))
    answer = server.post("/v1/mail/check", many + "{bad\n" + many, LINES)
    check([l.get("id") for l in answer.lines] == [0, 1, 2, None, 0, 1, 2], "one line is answered by one line")
    check(answer.lines[3]["error"]["line"] == 4, "a bad line is one error, with its number")


def indexes(server):
    check(server.get("/v1/indexes").json == {"indexes": ["news"]}, "the indexes have names")
    check(server.get("/v1/indexes/news").json["documents"] == 12, "an index is described")
    refused(server.get("/v1/indexes/other"), 404, "index", "an index that is not there")
    text = json.loads(sample("articles.jsonl").splitlines()[0])["text"]
    told = [line.split("\t") for line in subprocess.run(
        [os.environ["TWINSIFT"], "index", "query", "news.twin", "-"], input=json.dumps({"id": "q", "text": text}),
        capture_output=True, text=True, check=True).stdout.splitlines()]
    for answer in (server.post("/v1/indexes/news/query", text, TEXT),
                   server.post("/v1/indexes/news/query", json.dumps({"text": text}), JSON)):
        matches = [["q", str(m["id"]), f"{m['similarity']:.4f}"] for m in answer.json["matches"]]
        check(matches == told and not answer.json["incomplete"], f"a query finds what the command finds: {matches}")
    one = server.post("/v1/indexes/news/query", json.dumps({"text": text, "top": 1, "threshold": 0.9}), JSON).json
    check(len(one["matches"]) == 1, "top and threshold")
    refused(server.post("/v1/indexes/news/query", json.dumps({"text": text, "threshold": 2}), JSON), 400, "invalid",
            "a threshold out of range")

    strange = "a/b c%?&#ü\"<"
    path = "/v1/indexes/news/documents/" + urllib.parse.quote(strange, safe="")
    refused(server.get(path), 404, "document", "a document that is not there")
    put = server.request("PUT", path, json.dumps({"text": text, "label": 7, "time": 5}), JSON, token=True)
    check(put.json["added"] == 1, f"a document is added: {put.body}")
    found = server.get(path).json
    check((found["id"], found["label"], found["time"]) == (strange, 7, 5) and found["text"], "a document is read")
    check(any(m["id"] == strange for m in server.post("/v1/indexes/news/query", text, TEXT).json["matches"]), "and found")
    listed = server.get("/v1/indexes/news/documents").json
    check(strange in [d["id"] for d in listed["documents"]], "and listed")
    check(server.request("DELETE", path, token=True).json["removed"] == 1, "and removed")
    refused(server.request("DELETE", path, token=True), 404, "document", "it is gone")
    many = "".join(json.dumps({"id": f"n{i}", "text": f"document {i} " * 9}) + "\n" for i in range(3000))
    many = many.replace('{"id": "n7",', '{"title": ["a field", {"of": null}], "id": "n7",')
    answer = server.post("/v1/indexes/news/documents", many + '{"id":1}\n', LINES, token=True)
    check(answer.lines[0]["error"]["line"] == 3001 and answer.lines[1]["added"] == 3000, f"{answer.body[-300:]}")
    check('"documents":3012' in program("index", "info", "--json", "news.twin"), "they are in the file")
    queries = "".join(json.dumps({"id": i, "text": f"document {i} " * 9, "top": 3}) + "\n" for i in range(2000))
    answer = server.post("/v1/indexes/news/query", queries, LINES)
    check([l["id"] for l in answer.lines] == list(range(2000)), "many lines are answered in order")
    check(all(l["matches"] for l in answer.lines), "each with its matches")
    program("index", "remove", "news.twin", "n0")
    refused(server.get("/v1/indexes/news/documents/n0"), 404, "document", "a change of another process is seen")


def method(server):
    texts = [sample("articles", d, "bakery.txt").decode() for d in ("news", "wire")]
    answer = server.post("/v1/compare", json.dumps({"a": texts[0], "b": texts[1]}), JSON).json
    check(f"{answer['jaccard']:.4f}" == "0.8942", "the similarity is the one that pairs prints")
    detail = server.post("/v1/compare", json.dumps(
        {"a": texts[0], "b": texts[1], "shingle": "char:9", "sketch": "classic", "slots": 100, "bands": 20, "rows": 5,
         "detail": True}), JSON).json
    sets = [{s["text"] for s in detail[side]["shingles"]} for side in "ab"]
    check(len(sets[0] & sets[1]) == detail["common"] and len(sets[0] | sets[1]) == detail["a_shingles"] +
          detail["b_shingles"] - detail["common"], "the shingles that are shown are those that were counted")
    check(all(s["common"] == (s["text"] in sets[1]) for s in detail["a"]["shingles"]), "common ones are marked")
    equal = [x == y for x, y in zip(detail["a"]["signature"], detail["b"]["signature"])]
    check(sum(equal) == detail["equal_slots"], "equal slots are counted")
    for name in "a", "b":
        with open(f"{name}.txt", "w", encoding="utf-8") as file:
            file.write(texts[name == "b"])
    told = json.loads(program(*"show --method --shingle char:9 --sketch classic --hashes 100 --bands 20 --rows 5 --json a.txt b.txt".split()))
    check([told[name] for name in ("size_a", "size_b", "common", "slots", "slots_equal", "bands", "rows", "bands_equal", "estimate", "similarity")] ==
          [detail[name] for name in ("a_shingles", "b_shingles", "common", "slots", "equal_slots", "bands", "rows")] +
          [len(detail["matching_bands"]), round(detail["estimate"], 4), round(detail["jaccard"], 4)], f"show --method prints the same: {told}")
    bands = [i for i in range(20) if all(equal[i * 5:i * 5 + 5])]
    check(bands == detail["matching_bands"], f"bands match where all rows do: {bands}")
    winners = [[side["shingles"][i]["text"] for i in side["winners"]] for side in (detail["a"], detail["b"])]
    check(all((x == y) == e for x, y, e in zip(*winners, equal)), "slots are equal where one shingle gave both")
    words = server.post("/v1/compare", json.dumps({"a": "one two three four", "b": "one two three five",
                                                   "shingle": "word:2", "detail": True}), JSON).json
    check([s["text"] for s in words["a"]["shingles"]] == ["one two", "two three", "three four"], "shingles of words")

    plan = server.post("/v1/plan", json.dumps({"reject": [0.6, 0.01], "accept": [0.9, 0.99]}), JSON).json
    check((plan["rows"], plan["bands"]) == (15, 20), "the plan of the README")
    told = json.loads(program(*"plan --bands 20 --rows 5 --threshold 0.6 --json".split()))
    plan = server.post("/v1/plan", json.dumps({"bands": 20, "rows": 5, "threshold": 0.6}), JSON).json
    check(abs(plan["areas"]["false_positives"] - told["areas"]["false_positives"]) < 1e-4, "the areas are the command's")
    refused(server.post("/v1/plan", json.dumps({"bands": 0, "rows": 5}), JSON), 400, "invalid", "no bands")

    bloom = server.post("/v1/bloom", json.dumps({"add": ["ann", "bob"], "ask": ["ann", "eve"], "cells": 512,
                                                 "functions": 3}), JSON).json
    marked = set(bloom["marked"])
    check(marked == {c for item in bloom["added"] for c in item["cells"]}, "the filter has the cells of its items")
    for item in bloom["asked"]:
        check(item["found"] == (set(item["cells"]) <= marked) and 1 <= len(item["cells"]) <= 3, f"{item}")
    edit = server.post("/v1/edit", json.dumps({"a": "kitten", "b": "sitting"}), JSON).json
    check(edit["distance"] == 3, "kitten and sitting")

    lines = "".join(json.dumps({"id": json.loads(l)["id"] if "id" in json.loads(l) else f"line {i}",
                                "text": json.loads(l)["text"]}) + "\n"
                    for i, l in enumerate(sample("articles.jsonl").splitlines()))
    answer = server.post("/v1/pairs?threshold=0.9", lines, LINES).lines[0]
    told = [json.loads(l) for l in program("pairs", "--json", "--threshold", "0.9", "-", text=lines).splitlines()]
    check(answer["pairs"] == told, f"the pairs are those of the command: {answer['pairs']} {told}")
    check(all(len(g) > 1 for g in answer["groups"]) and answer["groups"], "and there are groups")

    rest = '"n":null,"x":[1,-2.5e3,{"y":[],"z":{}},[[true]],false],"s":"]}\\\""'
    lines = [f'{{{rest},"text":"a text of words that is there twice"}}', f'{{"text":"a text of words that is there twice",{rest}}}',
             '{"text":"a","x":[}', '{"text":"a","x":nul}', '{"text":"a","x":{"y"}}', '{"text":"a","x":' + "[" * 70 + "]" * 70 + "}"]
    answer = server.post("/v1/pairs?threshold=0.9", "\n".join(lines), LINES).lines
    told = program("pairs", "--json", "--threshold", "0.9", "-", text="\n".join(lines[:2]))
    check(answer[-1]["pairs"] == [json.loads(told)], f"records with fields of their own, and without an id: {answer[-1]} {told}")
    check([l["error"]["line"] for l in answer[:-1]] == [3, 4, 5, 6], f"what is no JSON is an error in other fields, too: {answer}")


def refusals(server):
    refused(server.get("/nothing"), 404, "route", "no such path")
    wrong = server.get("/v1/mail/check")
    refused(wrong, 405, "method", "no such method")
    check(wrong.headers["Allow"] == "POST", "the method that is allowed")
    refused(server.post("/v1/mail/check", b"x", "application/x-www-form-urlencoded"), 415, "type", "another type")
    refused(server.post("/v1/mail/check", b"x", None), 415, "type", "no type")
    message = b"Subject: x\n\nx\n"
    refused(server.post("/v1/mail/learn?label=spam", message, MAIL), 401, "token", "no token")
    refused(server.post("/v1/mail/learn?label=spam", message, MAIL, token="x" * 32), 401, "token", "another token")
    for origin in ("http://evil.example", "null"):
        refused(server.post("/v1/mail/learn?label=spam", message, MAIL, token=True, headers={"Origin": origin}), 403,
                "origin", "a page of another site")
    refused(server.post("/v1/mail/learn?label=spam", message, MAIL, token=True, headers={"Sec-Fetch-Site": "cross-site"}),
            403, "origin", "a page of another site")
    refused(server.get("/healthz", headers={"Host": "rebound.example"}), 421, "host", "another host")
    check(server.get("/healthz", headers={"Host": f"localhost:{server.port}"}).status == 200, "localhost")
    refused(server.post("/v1/indexes/news/query", None, TEXT, headers={"Content-Length": "3000000"}), 413, "length",
            "too long a body, before it is sent")
    for type_ in TEXT, LINES:
        refused(server.post("/v1/indexes/news/query", (b"x" * 9999 for _ in range(300)), type_, headers={"Transfer-Encoding": "chunked"}),
                413, "length", "too long a body, in chunks")
    long = server.post("/v1/indexes/news/query", '{"text":"a"}\n' * 2 + "x" * 3000000, LINES).lines
    check("matches" in long[1] and long[2]["error"]["line"] == 3 and len(long) == 3, f"too long a line: {long}")
    for body in ("", "{", "[]", '{"text":1}', '{"text":"x","text":"y"}', '{"text":"x"} {}', '{"nothing":1}', '{"text":"\x01"}',
                 '{"text":"x","top":-1}', '{"text":"x","top":1e3}', '{"text":"\\x"}'):
        answer = server.post("/v1/indexes/news/query", body, JSON)
        refused(answer, 400, "invalid", f"bad JSON {body!r}")
        check(isinstance(error_of(answer).get("offset"), int), f"the place of an error in {body!r}")
    for path, type_ in (("indexes/news/query?threshold=2", TEXT), ("indexes/news/query?threshold=0.5x", TEXT), ("indexes/news/query?top=-1", TEXT),
                        ("indexes/news/query?top=nan", TEXT), ("mail/check?explain=many", MAIL)):
        refused(server.post("/v1/" + path, message, type_), 400, "invalid", path)
    pairs = server.post("/v1/pairs?threshold=0", '{"id":1,"text":"one"}\n', LINES).lines[-1]
    check(pairs.get("error", {}).get("code") == "invalid", f"pairs at a threshold of 0: {pairs}")
    for name in ("Content-Security-Policy", "X-Content-Type-Options", "Referrer-Policy"):
        check(server.get("/").headers[name], f"{name} on the page")
    check(not server.get("/v1/mail").headers["Access-Control-Allow-Origin"], "no CORS")
    check(server.request("HEAD", "/healthz").body == b"", "HEAD")


def state(server):
    check(server.get("/healthz").body == b"ok\n" and server.get("/readyz").status == 200, "alive and ready")
    text = server.get("/metrics").body.decode()
    seen = {}
    for line in text.splitlines():
        if line.startswith("#"):
            kind, name = line.split()[1:3]
            check(kind in ("HELP", "TYPE"), f"metrics: {line}")
            seen[name] = True
            continue
        name, value = line.rsplit(" ", 1)
        float(value)
        base = name.split("{")[0]
        check(base in seen or any(base == n + s for n in seen for s in ("_bucket", "_sum", "_count")), f"metrics: {line}")
    check('twinsift_requests_total{route="mail_check",status="2xx"}' in text, "requests are counted")
    overview = server.get("/v1/overview").json
    check(overview["mail"] and overview["indexes"][0]["name"] == "news" and len(overview["requests"]) == 59, "overview")


def nothing_leaks(server):
    """What requests say is in their answers, and nowhere else."""
    mark = "zyxwmark"
    message = f"From: {mark} <{mark}@{mark}.example>\nSubject: {mark}\nMessage-ID: <{mark}@x>\nX-{mark}: {mark}\n\n{mark} words of {mark}\n".encode()
    server.post("/v1/mail/check?explain=20", message, MAIL)
    server.post("/v1/mail/learn?label=spam", message, MAIL, token=True)
    server.post("/v1/mail/forget", message, MAIL, token=True)
    server.post("/v1/mail/check", json.dumps({"id": mark, "message": mark}) + "\n{" + mark + "\n", LINES)
    server.post("/v1/mail/learn?label=bad%20" + mark, message, MAIL, token=True)
    server.post("/v1/mail/check?model=" + mark, message, MAIL)
    for path in "/v1/indexes/news/documents/", "/v1/indexes/", "/v1/", "/page/":
        server.get(path + mark)
    server.request("PUT", "/v1/indexes/news/documents/" + mark, f"{mark} is a text", TEXT, token=True)
    server.post("/v1/indexes/news/query", f"{mark} is a text", TEXT)
    server.post("/v1/indexes/news/query", '{"text":"%s",' % mark, JSON)
    server.request("DELETE", "/v1/indexes/news/documents/" + mark, token=True)
    server.post("/v1/compare", json.dumps({"a": mark, "b": mark, "shingle": mark}), JSON)
    server.post("/v1/pairs", json.dumps({"id": mark, "text": mark}) + "\n", LINES)
    server.get("/v1/mail?" + mark, headers={"Host": mark + ".example", "Origin": "http://" + mark, "User-Agent": mark})
    server.post("/v1/mail/learn?label=spam", message, MAIL, token=mark)
    for name, text in (("log", running.logged()), ("metrics", server.get("/metrics").body.decode()), ("overview", server.get("/v1/overview").body.decode())):
        place = text.find(mark)
        check(place < 0, f"what was asked is in the {name}: {text[max(0, place - 60):place + 60]!r}")


make_data()
with Server("--model", "mail.twin", "--index", "news.twin", "--max-body", "2M") as running:
    for part in (mail, indexes, method, refusals, state, nothing_leaks):
        part(running)
    check("winner" not in running.logged(), "nothing of a request is logged")
    check(running.stop() == 0, "SIGTERM ends it with status 0")
end()
