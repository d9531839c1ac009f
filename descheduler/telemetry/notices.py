"""What a run tells people at its end: one document, and the same as a message of Slack or of Microsoft Teams."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import islice
from typing import Literal, get_args

import msgspec

from descheduler.documents.fields import Fields
from descheduler.model.text.counted import counted
from descheduler.model.text.printable import clipped
from descheduler.report.nothing import why_nothing
from descheduler.report.outcome.document import OutcomeDocument, ResultKind
from descheduler.report.plan.document import Plan
from descheduler.report.plan.goal import objective_title
from descheduler.telemetry.run_record import RunRecord

NoticeFormat = Literal["json", "slack", "teams"]

_MOST_DETAILS = 20
_LONGEST_DETAIL = 500
_WORDS: Mapping[ResultKind, str] = {
    "evicted": "evicted",
    "gone": "gone already",
    "refused": "refused by the API server",
    "background": "left to another controller",
    "failed": "failed",
    "not-attempted": "not attempted",
}
_ENDS = {
    1: "failed, and nothing was evicted; the log says why",
    2: "has an invalid policy or wrong flags, and nothing was evicted; the log says why",
    4: "was stopped before its end",
    130: "was stopped by SIGINT (Ctrl-C)",
    143: "was stopped by SIGTERM",
}
"""Exit code → how such a run ended."""


class Notice(Fields, frozen=True):
    """What a run came to. `name` is that of its Lease by default: descheduler- and the names of the profiles, or
    descheduler for a policy that cannot be read.

    `exit_code` is that of the run. `is_problem` says that people should look: the run failed or was stopped, a plugin
    failed, or evictions were refused, failed or are unconfirmed. `summary` is one sentence, and `details` are 20 more
    at most: what stopped the run, failed plugins, goals. `planned` are the evictions of the plan. `counts` says how
    those of a run that evicts ended; it is empty in a dry run and in a run that failed before the evictions.
    """

    api_version: Literal["descheduler.notice/v1"]
    kind: Literal["Notice"]
    name: str
    ended_at: datetime
    is_dry: bool = msgspec.field(name="dryRun")
    exit_code: int
    is_problem: bool = msgspec.field(name="problem")
    summary: str
    details: tuple[str, ...]
    planned: int
    counts: Mapping[ResultKind, int]

    @property
    def has_evictions(self) -> bool:
        """Whether any pod was evicted, may have been, or is in the plan of a dry run."""
        return bool(self.planned if self.is_dry else self.counts.get("evicted") or self.counts.get("background"))

    @property
    def lines(self) -> tuple[str, ...]:
        """The whole as lines of text."""
        mark = "Problem: " if self.is_problem else ""
        return (f"{mark}{self.name}: {self.summary}", *self.details)


def make_notice(record: RunRecord, name: str) -> Notice:
    """The notice of a run that has ended."""
    plan, outcome = record.plan, record.outcome
    return Notice(
        api_version="descheduler.notice/v1",
        kind="Notice",
        name=record.shard.name(name),
        ended_at=datetime.fromtimestamp(record.ended_at, UTC),
        is_dry=record.is_dry,
        exit_code=record.exit_code,
        is_problem=_is_problem(record),
        summary=_summary(record),
        details=() if plan is None else tuple(_clipped(islice(_details(plan, outcome), _MOST_DETAILS))),
        planned=0 if plan is None else len(plan.moves),
        counts={} if outcome is None else outcome.counts,
    )


def _is_problem(record: RunRecord) -> bool:
    outcome = record.outcome
    if record.exit_code in _ENDS or (record.plan is not None and record.plan.failures):
        return True
    return outcome is not None and bool(
        outcome.stopped_by or outcome.unconfirmed or outcome.counts["refused"] or outcome.counts["failed"]
    )


def _summary(record: RunRecord) -> str:
    plan, outcome = record.plan, record.outcome
    if plan is None:
        return f"the run {_ENDS.get(record.exit_code, f'ended with exit code {record.exit_code}')}"
    if outcome is None:
        planned = f"{counted(len(plan.moves), 'pod')} would be evicted" if plan.moves else "nothing would be evicted"
        return f"{planned} (dry run)"
    found = [f"{outcome.counts[kind]} {_WORDS[kind]}" for kind in get_args(ResultKind) if outcome.counts[kind]]
    return f"pods: {', '.join(found)}" if found else "nothing was evicted"


def _clipped(details: Iterable[str]) -> Iterator[str]:
    """`details` without control characters, none of them long."""
    return (clipped(detail, _LONGEST_DETAIL) for detail in details)


def _details(plan: Plan, outcome: OutcomeDocument | None) -> Iterator[str]:
    if outcome is not None and outcome.stopped_by:
        yield f"stopped by {outcome.stopped_by}"
    for failure in plan.failures:
        yield f"plugin {failure.plugin} of profile {failure.profile} failed: {failure.message}"
    if outcome is not None and outcome.unconfirmed:
        evictions = counted(outcome.unconfirmed, "eviction")
        yield f"{evictions} had no clear answer and {'counts' if outcome.unconfirmed == 1 else 'count'} as evicted"
    if plan.goal is not None:
        yield from (f"{objective_title(plan.goal, each)}: {each.sentence}" for each in plan.goal.objectives)
    if not plan.moves and (why := why_nothing(plan)):
        yield why


def _as_slack(notice: Notice) -> bytes:
    """The `text` of an incoming webhook, in which `&`, `<` and `>` alone have a meaning that a text must not use."""
    text = "\n".join(notice.lines)
    for sign, escaped in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;")):
        text = text.replace(sign, escaped)
    return msgspec.json.encode({"text": text})


def _as_teams(notice: Notice) -> bytes:
    """An Adaptive Card as a workflow of Microsoft Teams takes it; a RichTextBlock shows texts as they are."""
    blocks = [{"type": "RichTextBlock", "inlines": [{"type": "TextRun", "text": line}]} for line in notice.lines]
    card = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "body": blocks,
    }
    attachment = {"contentType": "application/vnd.microsoft.card.adaptive", "content": card}
    return msgspec.json.encode({"type": "message", "attachments": [attachment]})


FORMATS: Mapping[NoticeFormat, Callable[[Notice], bytes]] = {
    "json": msgspec.json.encode,
    "slack": _as_slack,
    "teams": _as_teams,
}
"""The body of a notice in each form."""
