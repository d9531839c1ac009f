"""The page about reason codes."""

from __future__ import annotations

from collections.abc import Iterator

from descheduler.model.verdict import Reason
from docs.generator.markdown import page, table

__all__ = ["make_page"]

_INTRODUCTION = """\
Every pod that a plugin would have evicted and that stays has one of these codes, a sentence with the particulars, and
often the object at fault (`subject`). They stand in `refusals` of a [plan](plan.md). How to change the answer is in
[Why was my pod not evicted?](../how-to/troubleshoot.md)."""


def make_page() -> str:
    """The whole page."""
    return page("Reason codes", _lines())


def _lines() -> Iterator[str]:
    yield _INTRODUCTION
    yield ""
    yield from table(("Code", "Meaning"), [[f"`{reason.value}`", reason.summary] for reason in Reason])
