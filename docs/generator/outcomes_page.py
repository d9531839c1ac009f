"""The page about how evictions end."""

from __future__ import annotations

from collections.abc import Iterator

from descheduler.explanation.docs.source import member_docs
from descheduler.plan.outcome import OutcomeCode, OutcomeKind
from docs.generator.markdown import page, table

__all__ = ["make_page"]

_INTRODUCTION = """\
A run that evicts writes an [outcome](plan.md#outcome). Each of its `results` has a `result` that says how the eviction
ended and a `code` that says why. A run with `-o table` shows the results in the column RESULT."""


def make_page() -> str:
    """The whole page."""
    return page("Outcomes of evictions", _lines())


def _lines() -> Iterator[str]:
    yield _INTRODUCTION
    yield ""
    for heading, enum in (("Results", OutcomeKind), ("Codes", OutcomeCode)):
        yield f"## {heading}"
        yield ""
        yield from table((heading[:-1], "Meaning"), [[f"`{value}`", text] for value, text in member_docs(enum).items()])
