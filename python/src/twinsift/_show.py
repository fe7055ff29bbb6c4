"""What a result prints: its counts and the first pairs, in a notebook with differences marked."""
from __future__ import annotations

import html
from typing import NamedTuple

from . import _core

_WIDTH = 60  # characters of a text in a line
_MARKED = 2000  # characters of a text that are compared for a table


class Example(NamedTuple):
    """A pair to show. The texts are cut, so that a result does not hold on to large ones."""

    a: int
    b: int
    similarity: float
    first: str
    second: str


def _line(text: str) -> str:
    words = " ".join(text[: 4 * _WIDTH].split())
    words = "".join(one if one.isprintable() else "\ufffd" for one in words)  # which a terminal might obey
    return words if len(words) <= _WIDTH else words[: _WIDTH - 1] + "…"


def examples_text(examples: list[Example]) -> str:
    """A line for each."""
    return "".join(f"\n  {one.a}  {one.b}  {one.similarity:.4f}  {_line(one.first)}" for one in examples)


def _spans(first: str, second: str) -> list[tuple[str, str, str]]:
    return _core.diff(first[:_MARKED], second[:_MARKED])


def _side(spans: list[tuple[str, str, str]], which: int, mark: str) -> str:
    parts = []
    for span in spans:
        text = html.escape(span[which])
        parts.append(text if span[0] == "=" or not text else f"<{mark}>{text}</{mark}>")
    return "".join(parts)


def examples_html(headline: str, examples: list[Example]) -> str:
    """A table, in which the words that differ are marked."""
    rows = []
    for one in examples:
        spans = _spans(one.first, one.second)
        cells = (one.a, one.b, f"{one.similarity:.4f}", _side(spans, 1, "del"), _side(spans, 2, "ins"))
        rows.append("<tr>" + "".join(f"<td style='text-align:left'>{cell}</td>" for cell in cells) + "</tr>")
    head = "<tr><th>a</th><th>b</th><th>similarity</th><th>text of a</th><th>text of b</th></tr>"
    table = f"<table><thead>{head}</thead><tbody>{''.join(rows)}</tbody></table>" if rows else ""
    return f"<div><p><b>{html.escape(headline)}</b></p>{table}</div>"
