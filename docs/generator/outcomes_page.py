"""The page about how evictions end."""

from __future__ import annotations

from collections.abc import Iterator

from descheduler.explanation.docs.source import member_docs
from descheduler.plan.outcome import OutcomeCode, OutcomeKind
from docs.generator.markdown import page, table

_INTRODUCTION = """\
A run that evicts writes an [outcome](plan.md#outcome). Each of its `results` has a `result` that says how the
eviction ended and a `code` that says why; there is one for each planned eviction. `reason` is why the plugin selected
the pod, `target` where its replacement is expected.

A run that is stopped early writes its outcome too: by SIGINT (Ctrl-C, exit code 130), SIGTERM (143), `--deadline`, the
loss of its Lease or an overloaded API server (4). `stoppedBy` says what stopped it, `counts` what was done, and
`notAttempted` how many planned evictions are left and why. Such runs must not be repeated by a Job; the next scheduled
run decides again. `figures`, `landings` and `plugins` of an outcome are of the evicted pods; those of everything that
was planned are in `plan`."""


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
