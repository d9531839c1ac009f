"""A gang, which a PodGroup or its pods name: what it needs, its pods, and what keeps it from running."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from descheduler.cluster.snapshot import Snapshot
from descheduler.documents.fields import Fields
from descheduler.explanation.asked import Answer, Explained, Inquiry
from descheduler.explanation.finding import find_key
from descheduler.explanation.gangs import GangFacts, facts_of_gang, num_starting
from descheduler.explanation.scheduling.placement import PlacementAnalysis, placement_table
from descheduler.explanation.scheduling.waiting import Scheduling, is_pending
from descheduler.model.gangs import AllGangs
from descheduler.model.koordinator.scheduler_name import scheduler_name_of
from descheduler.model.pod import Pod
from descheduler.model.text.counted import counted
from descheduler.model.text.printable import printable
from descheduler.placement.plugins.coscheduling.plugin import Coscheduling
from descheduler.report.document import PodReference
from descheduler.report.identities import reference
from descheduler.report.tables.table_style import TableStyle

__all__ = ["SUBJECT", "GangMember", "PodGroupExplanation"]


class GangMember(Fields, frozen=True):
    """A pod of the gang. `node` is null while it is unbound."""

    pod: PodReference
    node: str | None
    phase: str
    is_terminating: bool = msgspec.field(name="terminating")


class PodGroupExplanation(Fields, frozen=True):
    """Everything about one gang. `source` says who states its minimum: a PodGroup, its pods, or neither.

    `num_spare` is how many of its running pods it does not need, null without a minimum. `others` are the other gangs
    of its group. `placement` is that of its first pending pod with the other pending ones, null without any; `notes`
    say why the gang does not run.
    """

    facts: GangFacts
    source: Literal["PodGroup", "pods", "none"]
    num_spare: int | None = msgspec.field(name="spare")
    members: tuple[GangMember, ...]
    others: tuple[GangFacts, ...]
    placement: PlacementAnalysis | None
    notes: tuple[str, ...]


_NO_NAME = "'' (an empty name)"
_MOST_GANGS = 100
"""Other gangs of its group that are looked at; it may list thousands."""


def _explain(name: str, snapshot: Snapshot, scheduling: Scheduling) -> PodGroupExplanation:
    """The gang called `namespace/name`, or the only one called `name`, as the cluster is. Raises UnknownSubjectError.

    A gang is known by its PodGroup, or by pods that name it.
    """
    gangs = snapshot.gangs
    with_group = {group.gang_id for group in (*snapshot.pod_groups, *snapshot.other_pod_groups)}
    keys = dict(gangs.keys_by_name()) | {group.gang_id: group.gang_id for group in snapshot.pod_groups}
    gang_id = find_key("PodGroup or gang", snapshot, name, keys)
    key = keys[gang_id]
    facts, members = facts_of_gang(key, gangs), gangs.members.get(key, [])
    pending = [pod for pod in members if is_pending(pod)]
    return PodGroupExplanation(
        facts=facts,
        source=_source(gang_id, facts, with_group),
        num_spare=_num_spare(key, facts, gangs),
        members=tuple(map(_member, members)),
        others=tuple(facts_of_gang(each, gangs) for each in _others(facts)[:_MOST_GANGS]),
        placement=scheduling.analyse(pending[0]) if pending else None,
        notes=tuple(_notes(key, facts, members, gangs, scheduling)),
    )


def _source(gang_id: str, facts: GangFacts, with_group: set[str]) -> Literal["PodGroup", "pods", "none"]:
    if gang_id in with_group:
        return "PodGroup"
    return "none" if facts.min_available is None else "pods"


def _num_spare(key: str, facts: GangFacts, gangs: AllGangs) -> int | None:
    """How many pods GangCheck lets go one by one; the only one of a group on a node leaves nobody behind."""
    if facts.min_available is None:
        return None
    num_on_nodes = facts.num_running + num_starting(key, gangs)
    others = (facts_of_gang(each, gangs).num_running + num_starting(each, gangs) for each in _others(facts))
    if num_on_nodes == 1 and not any(others):
        return 1
    return 0 if facts.num_running < facts.min_available else num_on_nodes - max(0, facts.min_available)


def _member(pod: Pod) -> GangMember:
    return GangMember(
        pod=reference(pod), node=pod.node_name or None, phase=pod.phase, is_terminating=pod.is_terminating
    )


def _others(facts: GangFacts) -> list[str]:
    return [each for each in dict.fromkeys(facts.group) if each != facts.name]


def _notes(
    key: str, facts: GangFacts, members: Sequence[Pod], gangs: AllGangs, scheduling: Scheduling
) -> Iterator[str]:
    for task in gangs.tasks(key):
        num_running = facts_of_gang(task.key, gangs).num_running
        yield f"task {task.task}: {num_running} running, it needs {task.least} ({task.setting})"
    if facts.min_available is None:
        yield "there is no PodGroup of this name, and no pod states a valid min-available: its pods are not scheduled"
    elif facts.num_missing:
        lack = counted(facts.num_missing, "pod") + (" does" if facts.num_missing == 1 else " do")
        minimum = gangs.minimum(key)
        setting = "" if minimum is None else f" ({minimum.setting})"
        yield f"{lack} not exist yet of the {facts.min_available} that it needs{setting}"
    if facts.group and facts.name not in facts.group:
        yield "the group that it names does not contain it"
    others = _others(facts)
    for other in others[:_MOST_GANGS]:
        if gangs.minimum(other) is None and other not in gangs.members:
            yield f"gang {other or _NO_NAME} of its group does not exist"
    if len(others) > _MOST_GANGS:
        yield f"{len(others) - _MOST_GANGS:,} more gangs of its group are not shown"
    if gangs.koordinator.settings(key) is not None:
        yield from _other_schedulers(members, scheduling)


def _other_schedulers(members: Sequence[Pod], scheduling: Scheduling) -> Iterator[str]:
    """Pods that their scheduler does not schedule as a gang."""
    names = Counter(scheduler_name_of(pod) for pod in members if not pod.is_terminal)
    for name, number in sorted(names.items()):
        profile = scheduling.configuration.profile_for(name)
        if profile is not None and Coscheduling.name not in profile.permits:
            yield f"{counted(number, 'pod')} of scheduler {name}, which schedules pods one by one (no Coscheduling)"


_MOST_MEMBERS = 20


def _table(explanation: PodGroupExplanation, style: TableStyle) -> Iterator[str]:
    """What the gang needs and has, its pods, the gangs of its group, and why its pods are pending."""
    facts = explanation.facts
    yield from style.heading(printable(f"Gang {facts.name}{_SOURCES[explanation.source]}"))
    header = ["MIN", "RUNNING", "PENDING", "MISSING"]
    settings = [facts.mode, facts.match_policy, f"{facts.waiting_time_seconds:g}s" if facts.mode else ""]
    rows = [[*_figures(facts), *settings]]
    yield from style.table([*header, "MODE", "MATCH POLICY", "WAITING TIME"], rows)
    rows = [[each.name or "'' (an empty name)", *_figures(each)] for each in explanation.others]
    yield from style.table(["GANG OF ITS GROUP", *header], rows)
    yield from _members(explanation, style)
    for note in (*explanation.notes, _evictable(explanation)):
        yield from style.paragraph(printable(note))
    yield ""
    if explanation.placement is not None:
        first = next(each for each in explanation.members if each.node is None and not each.is_terminating)
        yield from placement_table(explanation.placement, style, f"the pending pod {first.pod.name}")


_SOURCES = {"PodGroup": " (PodGroup)", "pods": " (annotations and labels of its pods)", "none": ""}


def _figures(facts: GangFacts) -> list[str]:
    minimum = "" if facts.min_available is None else str(facts.min_available)
    return [minimum, str(facts.num_running), str(facts.num_pending), str(facts.num_missing)]


def _members(explanation: PodGroupExplanation, style: TableStyle) -> Iterator[str]:
    shown = explanation.members if style.is_wide else explanation.members[:_MOST_MEMBERS]
    rows = [[each.pod.namespace, each.pod.name, each.node or "", _phase(each)] for each in shown]
    yield from style.table(["NAMESPACE", "POD", "NODE", "PHASE"], rows)
    if len(shown) < len(explanation.members):
        yield f"{len(explanation.members) - len(shown):,} more pods; -o wide shows them all"
        yield ""


def _phase(member: GangMember) -> str:
    return f"{member.phase}, terminating" if member.is_terminating else member.phase


def _evictable(explanation: PodGroupExplanation) -> str:
    if explanation.num_spare is None or not explanation.facts.num_running:
        return ""
    if explanation.num_spare:
        return f"{counted(explanation.num_spare, 'pod')} can be evicted before it has fewer than it needs"
    return "no pod of it can be evicted alone: it needs all that run (GangMinimum)"


def _answer(asked: Inquiry) -> Answer[PodGroupExplanation]:
    return Answer(_explain(asked.name, asked.snapshot, asked.scheduling()))


SUBJECT = Explained(PodGroupExplanation, _answer, _table)
