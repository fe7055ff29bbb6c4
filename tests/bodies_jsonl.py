#!/usr/bin/env python3
"""Messages of a folder as JSON lines: "id", the name of the file, and "text", its text parts, decoded, without markup.

    tests/bodies_jsonl.py "$TWINSIFT_DATA/trec07p-25k/data" > bodies.jsonl

Written for docs/dedup.md, with what Python has and without any code of twinsift."""

import email
import html.parser
import json
import pathlib
import sys


class Text(html.parser.HTMLParser):
    """Collects what is between tags, except scripts and styles."""

    def __init__(self):
        super().__init__()
        self.words, self.hidden = [], 0

    def handle_starttag(self, tag, attributes):
        self.hidden += tag in ("script", "style")
        self.words.append(" ")

    def handle_endtag(self, tag):
        self.hidden -= tag in ("script", "style") and self.hidden > 0
        self.words.append(" ")

    def handle_data(self, data):
        if not self.hidden:
            self.words.append(data)


def without_markup(text):
    parser = Text()
    try:
        parser.feed(text)
        parser.close()
    except (AssertionError, ValueError):
        return text  # a declaration that the parser refuses
    return "".join(parser.words)


def decoded(part):
    raw = part.get_payload(decode=True) or b""
    try:
        return raw.decode(part.get_content_charset() or "utf-8", "replace")
    except (LookupError, ValueError):
        return raw.decode("latin-1")


def body(message):
    texts = []
    for part in message.walk():
        if part.get_content_type() == "text/html":
            texts.append(without_markup(decoded(part)))
        elif part.get_content_type() == "text/plain":
            texts.append(decoded(part))
    return "\n".join(texts).encode("utf-8", "replace").decode()


for path in sorted(pathlib.Path(sys.argv[1]).iterdir()):
    print(json.dumps({"id": path.name, "text": body(email.message_from_bytes(path.read_bytes()))}, ensure_ascii=False))
