"""The page about reason codes."""

from __future__ import annotations

from collections.abc import Iterator

from descheduler.model.verdict import Reason
from docs.generator.markdown import page, table

_INTRODUCTION = """\
Every pod that a plugin selected and that is not evicted has one of these codes, a sentence with the details, and often
the object that blocks the eviction (`subject`). They are in `refusals` of a [plan](plan.md). For what to do, see
[Why was my pod not evicted?](../how-to/troubleshoot.md)."""


def make_page() -> str:
    """The whole page."""
    return page("Reason codes", _lines())


def _lines() -> Iterator[str]:
    yield _INTRODUCTION
    yield ""
    yield from table(("Code", "Meaning"), [[f"`{reason.value}`", reason.summary] for reason in Reason])
