"""A queue of Volcano: what it deserves and holds, its jobs by phase, and why their pods are pending."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from descheduler.documents.fields import Fields
from descheduler.explanation.asked import Answer, Explained
from descheduler.explanation.finding import UnknownSubjectError, find_key
from descheduler.explanation.scheduling.volcano import (
    QUEUE_HEADER,
    OpenedSession,
    QueueFacts,
    VolcanoJobFacts,
    job_table,
    queue_amounts,
    share_text,
    yes_or_no,
)
from descheduler.explanation.scheduling.waiting import Scheduling
from descheduler.model.text.amounts import amount_of_most
from descheduler.model.text.counted import counted
from descheduler.model.text.printable import printable
from descheduler.placement.volcano.jobs import Job, Status
from descheduler.report.tables.table_style import TableStyle

_MOST_JOBS = 20
"""Pending jobs of which a pod is tried on every node, and jobs that a table shows that is not wide."""
_OPEN = ("", "Open")


class QueueExplanation(Fields, frozen=True):
    """Everything about one queue of Volcano. `children` are the queues that name it as their parent.

    `phases` count its PodGroups by phase. `jobs` are in the order in which Volcano tries them. The message of a job
    whose pods are tried and find no node is the scheduler's about the first of them; it is empty after the first 20
    jobs. `notes` say what evictions of its pods lead to.
    """

    facts: QueueFacts
    children: tuple[str, ...]
    phases: Mapping[str, int]
    jobs: tuple[VolcanoJobFacts, ...]
    notes: tuple[str, ...]


def _explain(name: str, scheduling: Scheduling) -> tuple[QueueExplanation, tuple[str, ...]]:
    """The queue called `name`, as the cluster is, and what is assumed. Raises UnknownSubjectError."""
    snapshot = scheduling.cluster.snapshot
    opened = OpenedSession.of(scheduling.cluster, scheduling.configuration)
    if opened is None:
        raise UnknownSubjectError(f"no queues of Volcano in {snapshot.source or 'the snapshot'}")
    queues = opened.session.queues
    facts = opened.queue_facts(find_key("queue", snapshot, name, queues))
    listed = opened.jobs_in(facts.name)
    known = [opened.job_facts(job) for job in listed]
    pending = [place for place, job in enumerate(known) if job.num_pending and not job.message][:_MOST_JOBS]
    for place in pending:
        known[place] = msgspec.structs.replace(known[place], message=_why_pending(listed[place], scheduling))
    explanation = QueueExplanation(
        facts=facts,
        children=tuple(sorted(each.name for each in queues.values() if each.queue.parent == facts.name)),
        phases=dict(sorted(Counter(job.phase for job in known).items())),
        jobs=tuple(known),
        notes=tuple(_notes(facts, opened)),
    )
    doubt = opened.scheduler.configuration.doubt
    differs = (f"the scheduler can decide otherwise than shown: {doubt}",) if doubt else ()
    return explanation, (*opened.scheduler.assumed(), *differs)


def _why_pending(job: Job, scheduling: Scheduling) -> str:
    task = min(job.of_status(Status.PENDING), key=lambda task: task.is_gated)
    placement = scheduling.analyse(task.pod)
    return f"not scheduled yet: {placement.summary}" if placement.num_feasible else placement.summary


def _notes(facts: QueueFacts, opened: OpenedSession) -> Iterator[str]:
    if opened.session.fault:
        yield opened.session.fault
    if facts.state not in _OPEN:
        yield f"the queue is in state {facts.state}: none of its pods is evicted (QueueNotOpen)"
    if facts.parent:
        yield f"parent: {facts.parent} is not part of the model: Volcano 1.10 does not read it"
    if not facts.plugin:
        yield _without_account(opened)
        return
    account, where = opened.account_of(facts.name), f"plugin {facts.plugin} in tier {facts.tier}"
    if account is not None and not account.borrows and (excess := _excess(facts)):
        yield (
            f"the queue holds more than it deserves ({where}): {excess}; until it holds less, a replacement pod that"
            " requests some of it is not scheduled"
        )
    if account is not None and account.borrows and (excess := _excess(facts)):
        yield f"the queue holds more than it deserves ({where}): {excess}; it may hold up to its capability"
    yield _reclaiming(facts, opened)


def _without_account(opened: OpenedSession) -> str:
    plugin, tier, _ = opened.sharing()
    if not plugin:
        return "no plugin of the configuration shares the cluster out between queues (proportion or capacity)"
    return f"no PodGroup names the queue, so that it deserves nothing yet (plugin {plugin} in tier {tier})"


def _excess(facts: QueueFacts) -> str:
    """The resources of which it holds more than it deserves."""
    return ", ".join(
        amount_of_most(each.resource, each.allocated, each.deserved)
        for each in facts.resources
        if each.deserved is not None and each.allocated > each.deserved
    )


def _reclaiming(facts: QueueFacts, opened: OpenedSession) -> str:
    """Whether Volcano evicts its pods for other queues."""
    session = opened.session
    if "reclaim" not in session.configuration.actions:
        return "Volcano does not evict its pods for other queues: action reclaim is not configured"
    if not facts.is_reclaimable:
        return "Volcano does not evict its pods for other queues (reclaimable: false)"
    tiers = [
        f"{', '.join(plugin for plugin, _ in tier)} in tier {number}"
        for number, tier in enumerate(session.tiers.named("reclaimable"), start=1)
        if tier
    ]
    if not tiers:
        return "Volcano does not evict its pods for other queues: no plugin answers for action reclaim"
    return f"Volcano can evict its pods for other queues (reclaimable: true); plugins that decide: {'; '.join(tiers)}"


def _table(explanation: QueueExplanation, style: TableStyle) -> Iterator[str]:
    """What the queue deserves and holds, its jobs, and what evictions lead to."""
    facts = explanation.facts
    yield from style.heading(printable(f"Queue {facts.name}{_above(facts)}"))
    header = ["STATE", "WEIGHT", "PRIORITY", "RECLAIMABLE", "SHARE", "OVERUSED", "PLUGIN", "TIER"]
    row = [
        facts.state,
        str(facts.weight),
        str(facts.priority),
        yes_or_no(facts.is_reclaimable),
        share_text(facts.share),
        yes_or_no(facts.is_overused),
        facts.plugin,
        str(facts.tier or ""),
    ]
    yield from style.table(header, [row])
    yield from style.table(QUEUE_HEADER, [queue_amounts(each) for each in facts.resources])
    yield from _jobs(explanation, style)
    if explanation.children:
        yield printable(f"children: {', '.join(explanation.children)}")
    yield from style.notes(explanation.notes)


def _above(facts: QueueFacts) -> str:
    parts = (("parent", facts.parent), ("hierarchy", facts.hierarchy))
    return "".join(f", {name} {value}" for name, value in parts if value)


def _jobs(explanation: QueueExplanation, style: TableStyle) -> Iterator[str]:
    phases = ", ".join(f"{number} {phase}" for phase, number in explanation.phases.items())
    shown: Sequence[VolcanoJobFacts] = explanation.jobs if style.is_wide else explanation.jobs[:_MOST_JOBS]
    if phases:
        yield printable(f"{counted(len(explanation.jobs), 'job')}: {phases}")
        yield ""
    yield from job_table(shown, style)
    if len(shown) < len(explanation.jobs):
        yield f"{counted(len(explanation.jobs) - len(shown), 'more job')}; -o wide shows all"
        yield ""


SUBJECT = Explained(QueueExplanation, lambda asked: Answer(*_explain(asked.name, asked.scheduling())), _table)
