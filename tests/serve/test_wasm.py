"""The module for browsers answers as the program does, byte by byte: samples, odd texts, odd requests. Its signatures are
those of `twinsift sign`."""

import json
import os
import re
import shutil
import struct
import subprocess

import wasm
from frame import JSON, ROOT, SAMPLES, Server, check, end, program, skip_without_server

skip_without_server()
NODE = shutil.which("node")
if not NODE:
    wasm.browser.skip("Node is not installed")
wasm.build()

with open(os.path.join(SAMPLES, "articles.jsonl"), encoding="utf-8") as samples:
    ARTICLES = [json.loads(line)["text"] for line in samples]
ODD = ["", " ", "a", "ab", "\0", "a\0b\0c", "\n\n\t  x  \r\n", "e\u0301e\u0301 \u00e9", "\ufb01\ufb02\u00df\u0130I\u0131", "\ud55c\uad6d\uc5b4 \u4e2d\u6587\u5b57\u7b26",
       "\u65e5\u672c\u8a9e\u306e\u6587\u7ae0\u306f\u7a7a\u767d\u304c\u306a\u3044\u3002" * 9, "\u0e20\u0e32\u0e29\u0e32\u0e44\u0e17\u0e22\u0e44\u0e21\u0e48\u0e21\u0e35\u0e0a\u0e48\u0e2d\u0e07\u0e27\u0e48\u0e32\u0e07",
       "\U0001F468\u200d\U0001F469\u200d\U0001F467 \u202eevil\u202c \u200b\ufeff\u00ad", "\u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627", "a" * 3900, "ab " * 1300, "x\u0301" * 1200,
       "\U0010FFFF\uffff\ufffd", "The the THE tHe the", "<script>&amp;</script>\"\\/"]
RULES = ["auto:9", "char:1", "char:5", "char:40", "word:1", "word:3", "stop:3", "byte:4"]


def compared(a, b, **options):
    return "/v1/compare", json.dumps({"a": a, "b": b, "detail": True, **options})


def requests():
    texts = [text[:1900] for text in ARTICLES] + ODD
    for i, a in enumerate(texts):
        b = texts[(i * 7 + 3) % len(texts)]
        yield compared(a, b, shingle=RULES[i % len(RULES)], sketch=["classic", "fast"][i % 2], seed=[0, 1, 2**64 - 1][i % 3])
        yield compared(a, a, bands=1 + i, rows=1 + i % 9, slots=(1 + i) * (1 + i % 9), normalised=True)
        yield "/v1/edit", json.dumps({"a": a[:600], "b": b[:600]})
    for odd in "\\ud800", "\\udc00\\ud800x", "\\u0000":
        yield "/v1/compare", '{"a":"%s one text","b":"one text","detail":true}' % odd
    for bands, rows in (1, 1), (25, 5), (100, 20), (1, 65536), (2**32 + 1, 1), (0, 0):
        yield "/v1/plan", json.dumps({"bands": bands, "rows": rows, "threshold": 0.7})
    for threshold in 0.05, 0.5, 0.8, 0.95, 1, 0, 1.5:
        yield "/v1/plan", json.dumps({"threshold": threshold, "hashes": 256, "recall": 0.99})
    yield "/v1/plan", '{"reject":[0.6,0.01],"accept":[0.9,0.99]}'
    for cells in 512, 1024, 4096, 5000:
        for functions in 1, 4, 16, 17:
            yield "/v1/bloom", json.dumps({"add": ODD[:18], "ask": ["a", "never added"], "cells": cells, "functions": functions})
    for path in "/v1/compare", "/v1/plan", "/v1/bloom", "/v1/edit":
        for body in "", "{", "[]", "{}", '{"a":1}', '{"nothing":true}', '{"a":"x","b":"y","shingle":"char:9999"}':
            yield path, body


def answers(wishes):
    with open("requests.json", "w", encoding="utf-8") as file:
        json.dump(wishes, file)
    said = subprocess.run([NODE, os.path.join(os.path.dirname(os.path.abspath(__file__)), "wasm.mjs"), wasm.BUILT, "requests.json"],
                          capture_output=True, text=True, check=True).stdout.splitlines()
    check(said[0] in program("--version"), f"the module is of version {said[0]}")
    return [json.loads(line) for line in said[1:]]


def same_answers():
    wishes = list(requests())
    with Server("--demo") as server:
        connection = server.connect()
        for (path, body), got in zip(wishes, answers(wishes), strict=True):
            told = server.request("POST", path, body, JSON, connection=connection)
            check((got["status"], got["text"]) == (told.status, told.body.decode()),
                  f"{path} {body[:100]}:\n  module  {got['text'][:300]}\n  program {told.body[:300]}")
    print(len(wishes), "requests are answered alike")


# ---- whole documents, through the files of `twinsift sign` (docs/format.md)

def signatures(path):
    """The slots of each document of a file, in their order."""
    with open(path, "rb") as file:
        data = file.read()
    at = 8

    def number():
        nonlocal at
        at += 8
        return struct.unpack_from("<Q", data, at - 8)[0]

    slots = int(dict(pair.split("=", 1) for pair in data[16:16 + struct.unpack_from("<Q", data, 8)[0]].decode().split())["slots"])
    for _ in "scheme", "note":
        length = number()
        at += length
    for _ in range(8):
        number()
    found = []
    while count := number():
        at += 64 * count
        length = number()
        at += length
        for _ in range(count):
            found.append(list(struct.unpack_from(f"<{slots}I", data, at)))
            at += 4 * slots
    return found


def same_signatures():
    texts = ARTICLES + ["".join(ARTICLES) * 3] + ODD[2:]
    with open("texts.jsonl", "w", encoding="utf-8") as file:
        for text in texts:
            file.write(json.dumps({"text": text}) + "\n")
    kinds = [([], {}), (["--shingle", "word:2", "--hashes", "64"], {"shingle": "word:2", "slots": 64}),
             (["--seed", "7", "--sketch", "classic", "-t", "0.5"], {"seed": 7, "sketch": "classic", "threshold": 0.5}),
             (["--raw", "--bands", "16", "--rows", "8"], {"raw": True, "bands": 16, "rows": 8})]
    for arguments, options in kinds:
        program("sign", "--quiet", *arguments, "texts.jsonl", "-o", "texts.sig")
        told, got = signatures("texts.sig"), answers([["sign", [text, options]] for text in texts])
        check(len(told) == len(got), f"{len(told)} signatures of {len(got)} texts")
        for text, slots, answer in zip(texts, told, got, strict=True):
            check(answer.get("signature") == slots, f"the signature of {text[:60]!r} with {options}: {answer.get('error')}")
            check(len(answer["keys"]) == answer["bands"], "a key for each band")
            check(not options.get("bands") or (answer["bands"], answer["rows"]) == (16, 8), "the plan is as asked for")
    check("error" in answers([["sign", ["a text", {"shingle": "char:0"}]]])[0], "a rule that cannot be is an error")


def example_of_the_manual():
    with open(os.path.join(ROOT, "docs", "serve.md"), encoding="utf-8") as file:
        example = re.search(r"```js\n(.*?)```", file.read(), re.S)[1].replace("./twinsift.js", f"{wasm.BUILT}/twinsift.js")
    with open("example.mjs", "w", encoding="utf-8") as file:
        file.write(example + "console.log(signature.length, bandKeys.length, jaccard, distance, bands, rows);")
    said = subprocess.run([NODE, "example.mjs"], capture_output=True, text=True, check=True).stdout.split()
    check(said[:2] == ["128", "25"] and said[3:] == ["3", "20", "15"], f"the example of docs/serve.md prints {said}")


same_answers()
same_signatures()
example_of_the_manual()
end()
