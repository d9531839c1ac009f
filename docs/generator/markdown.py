"""Pieces of Markdown."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

_NOTE = "<!-- Made by `python -m docs.generate`; edit the code it is made from, not this page. -->"
_WIDTH = 120


def page(title: str, lines: Iterator[str]) -> str:
    """A whole page, with a note for whoever wants to edit it."""
    return "\n".join([_NOTE, "", f"# {title}", "", *lines]).rstrip("\n") + "\n"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """The lines of a table and an empty one after it; nothing when there are no rows."""
    if not rows:
        return
    yield f"| {' | '.join(header)} |"
    yield f"|{'---|' * len(header)}"
    for row in rows:
        yield f"| {' | '.join(_cell(text) for text in row)} |"
    yield ""


def wrapped(paragraph: str) -> Iterator[str]:
    """The lines of a paragraph and an empty one after it."""
    yield from textwrap.wrap(paragraph, _WIDTH, break_long_words=False, break_on_hyphens=False)
    yield ""


def anchor(heading: str) -> str:
    """The link to a heading on the same page, as GitHub and most renderers make it."""
    kept = (letter for letter in heading.lower() if letter.isalnum() or letter in " -_")
    return "#" + "".join(kept).replace(" ", "-")


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
