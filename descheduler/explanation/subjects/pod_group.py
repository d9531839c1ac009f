"""A gang, which a PodGroup or its pods name: what it needs, its pods, and what keeps it from running."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from descheduler.cluster.kinds import KINDS
from descheduler.cluster.snapshot import Snapshot
from descheduler.documents.fields import Fields
from descheduler.documents.problems import shown
from descheduler.explanation.asked import Answer, Explained
from descheduler.explanation.finding import UnknownSubjectError, find_key
from descheduler.explanation.scheduling.placement import PlacementAnalysis, placement_table
from descheduler.explanation.scheduling.volcano import VolcanoFacts, volcano_facts, volcano_tables
from descheduler.explanation.scheduling.waiting import Scheduling, is_pending
from descheduler.model.groups.gangs import POD_GROUP_API_GROUPS, AllGangs, api_group_of, gangs_of, name_of_gang
from descheduler.model.groups.volcano import POD_GROUP_KIND, QUEUE_KIND
from descheduler.model.koordinator.scheduler_name import scheduler_name_of
from descheduler.model.pod import Pod
from descheduler.model.text.counted import counted
from descheduler.model.text.printable import printable
from descheduler.placement.plugins.coscheduling.plugin import Coscheduling
from descheduler.report.document import PodReference
from descheduler.report.identities import reference
from descheduler.report.tables.table_style import TableStyle


class GangMember(Fields, frozen=True):
    """A pod of the gang. `node` is null while it is unbound."""

    pod: PodReference
    node: str | None
    phase: str
    is_terminating: bool = msgspec.field(name="terminating")


class PodGroupExplanation(Fields, frozen=True):
    """Everything about one gang. `source` says what states its minimum: a PodGroup of
    the API group `api_group`, its pods, or neither.

    `num_spare` is how many of its running pods it does not need, null without a minimum. `others` are the other gangs
    of its group. `placement` is that of its first pending pod with the other pending ones, null without any; `notes`
    say why the gang does not run. `volcano` is null for a gang that is not a job of Volcano.
    """

    facts: GangFacts
    source: Literal["PodGroup", "pods", "none"]
    api_group: str
    num_spare: int | None = msgspec.field(name="spare")
    members: tuple[GangMember, ...]
    others: tuple[GangFacts, ...]
    volcano: VolcanoFacts | None
    placement: PlacementAnalysis | None
    notes: tuple[str, ...]


_NO_NAME = "'' (an empty name)"
_MOST_GANGS = 100
"""Other gangs of its group that are looked at; it may list thousands."""


def _explain(name: str, snapshot: Snapshot, scheduling: Scheduling) -> PodGroupExplanation:
    """The gang called `namespace/name`, or the only one called `name`, as the cluster is. Raises UnknownSubjectError.

    A gang is known by its PodGroup, or by pods that name it. `name` may begin with the API group and a colon.
    """
    gangs, key = snapshot.gangs, _find_key(name, snapshot)
    facts, members = _facts_of_gang(key, gangs), gangs.members.get(key, [])
    pending = [pod for pod in members if is_pending(pod)]
    return PodGroupExplanation(
        facts=facts,
        source=_source(key, facts, snapshot),
        api_group=api_group_of(key),
        num_spare=_num_spare(key, facts, gangs),
        members=tuple(map(_member, members)),
        others=tuple(_facts_of_gang(each, gangs) for each in _others(facts)[:_MOST_GANGS]),
        volcano=volcano_facts(members, scheduling.cluster, scheduling.configuration),
        placement=scheduling.analyse(pending[0]) if pending else None,
        notes=tuple(_notes(key, facts, members, gangs, scheduling)),
    )


def _find_key(name: str, snapshot: Snapshot) -> str:
    """The key of the gang that is meant; several API groups can have a PodGroup of one name."""
    api_group, _, name = name.rpartition(":")
    if api_group and api_group not in POD_GROUP_API_GROUPS:
        read = ", ".join(POD_GROUP_API_GROUPS)
        raise UnknownSubjectError(f"PodGroups of {shown(api_group)} are not read; those of {read} are")
    keys = snapshot.gangs.keys | {group.gang_id for group in snapshot.pod_groups}
    known: dict[str, list[str]] = {}
    for key in sorted(keys):
        if api_group in ("", api_group_of(key)):
            known.setdefault(name_of_gang(key), []).append(key)
    gang_id = find_key(f"PodGroup of {api_group}" if api_group else "PodGroup or gang", snapshot, name, known)
    if len(known[gang_id]) > 1:
        choices = " or ".join(f"podgroup.{api_group_of(key)}/{gang_id}" for key in known[gang_id])
        raise UnknownSubjectError(f"{shown(gang_id)} is the name of several PodGroups; write {choices}")
    return known[gang_id][0]


def _source(key: str, facts: GangFacts, snapshot: Snapshot) -> Literal["PodGroup", "pods", "none"]:
    stated = ((group.api_group, group.gang_id) for group in (*snapshot.pod_groups, *snapshot.other_pod_groups))
    if (api_group_of(key), name_of_gang(key)) in stated:
        return "PodGroup"
    return "none" if facts.min_member is None else "pods"


def _num_spare(key: str, facts: GangFacts, gangs: AllGangs) -> int | None:
    """How many pods GangCheck accepts one by one; after the only pod of a group on a node none is left behind."""
    if facts.min_member is None:
        return None
    num_on_nodes = facts.num_running + _num_starting(key, gangs)
    others = (_facts_of_gang(each, gangs).num_running + _num_starting(each, gangs) for each in _others(facts))
    if num_on_nodes == 1 and not any(others):
        return 1
    minimum = gangs.minimum(key)
    if minimum is not None and minimum.leaves_whole:
        return 0
    return 0 if facts.num_running < facts.min_member else num_on_nodes - max(0, facts.min_member)


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
        num_running = _facts_of_gang(task.key, gangs).num_running
        yield f"task {task.task}: {num_running} running, it needs {task.least} ({task.setting})"
    if facts.min_member is None:
        yield "there is no PodGroup of this name, and no pod states a valid minMember: its pods are not scheduled"
    elif facts.num_missing:
        lack = counted(facts.num_missing, "pod") + (" does" if facts.num_missing == 1 else " do")
        yield f"{lack} not exist yet of the {facts.min_member} that it needs (minMember)"
    if facts.group and facts.name not in facts.group:
        yield "the group that it names does not contain it"
    others = _others(facts)
    for other in others[:_MOST_GANGS]:
        if gangs.minimum(other) is None and other not in gangs.members:
            yield f"gang {other or _NO_NAME} of its group does not exist"
    if len(others) > _MOST_GANGS:
        more = counted(len(others) - _MOST_GANGS, "more gang of its group is", "more gangs of its group are")
        yield f"{more} not shown"
    yield from _missing_queue(key, scheduling.cluster.snapshot)
    if gangs.koordinator.settings(key) is not None:
        yield from _other_schedulers(members, scheduling)


def _missing_queue(key: str, snapshot: Snapshot) -> Iterator[str]:
    """The queue of a job of Volcano, if queues were read and it is not among them."""
    queues = {queue.name for queue in snapshot.of(KINDS[QUEUE_KIND])}
    for group in snapshot.of(KINDS[POD_GROUP_KIND]):
        is_meant = (group.api_group, group.gang_id) == (api_group_of(key), name_of_gang(key))
        if is_meant and queues and group.queue not in queues:
            yield f"queue {group.queue} does not exist: none of its pods is evicted (QueueNotOpen) or scheduled"


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
    yield from style.heading(printable(f"Gang {facts.name}{_of(explanation)}"))
    header = ["MINMEMBER", "RUNNING", "PENDING", "MISSING"]
    settings = [facts.mode, facts.match_policy, f"{facts.waiting_time_seconds:g}s" if facts.mode else ""]
    rows = [[*_figures(facts), *settings]]
    yield from style.table([*header, "MODE", "MATCH POLICY", "WAITING TIME"], rows)
    rows = [[each.name or "'' (an empty name)", *_figures(each)] for each in explanation.others]
    yield from style.table(["GANG OF ITS GROUP", *header], rows)
    yield from volcano_tables(explanation.volcano, style)
    yield from _members(explanation, style)
    for note in filter(None, (*explanation.notes, _evictable(explanation))):
        yield from style.paragraph(printable(note))
    yield ""
    if explanation.placement is not None:
        first = next(each for each in explanation.members if each.node is None and not each.is_terminating)
        yield from placement_table(explanation.placement, style, f"the pending pod {first.pod.name}")


def _of(explanation: PodGroupExplanation) -> str:
    match explanation.source:
        case "PodGroup":
            return f" (PodGroup of {explanation.api_group})"
        case "pods":
            return " (annotations and labels of its pods)"
        case "none":
            return ""


def _figures(facts: GangFacts) -> list[str]:
    minimum = "" if facts.min_member is None else str(facts.min_member)
    return [minimum, str(facts.num_running), str(facts.num_pending), str(facts.num_missing)]


def _members(explanation: PodGroupExplanation, style: TableStyle) -> Iterator[str]:
    shown = explanation.members if style.is_wide else explanation.members[:_MOST_MEMBERS]
    rows = [[each.pod.namespace, each.pod.name, each.node or "", _phase(each)] for each in shown]
    yield from style.table(["NAMESPACE", "POD", "NODE", "PHASE"], rows)
    if len(shown) < len(explanation.members):
        yield f"{counted(len(explanation.members) - len(shown), 'more pod')}; -o wide shows all"
        yield ""


def _phase(member: GangMember) -> str:
    return f"{member.phase}, terminating" if member.is_terminating else member.phase


def _evictable(explanation: PodGroupExplanation) -> str:
    if explanation.num_spare is None or not explanation.facts.num_running:
        return ""
    if explanation.num_spare:
        return f"{counted(explanation.num_spare, 'pod')} can be evicted before it has fewer than it needs"
    facts = explanation.facts
    running = counted(facts.num_running, "pod runs", "pods run")
    return f"{running} and minMember is {facts.min_member}: no single pod can be evicted (GangMinimum)"


SUBJECT = Explained(
    PodGroupExplanation, lambda asked: Answer(_explain(asked.name, asked.snapshot, asked.scheduling())), _table
)


class GangFacts(Fields, frozen=True):
    """The gang of a pod (Koordinator, Volcano or scheduler-plugins), by its `name` `namespace/name`.

    At least `min_member` of its pods are bound together, with those of the other gangs of `group`; null where there
    is no PodGroup and no pod with a valid number. `pending` pods wait for a node or start on one, and `missing` ones
    do not exist. `waiting_time_seconds` is how long pods wait for each other; it, `mode` and `match_policy` are known
    of gangs of Koordinator only.
    """

    name: str
    group: tuple[str, ...]
    min_member: int | None
    mode: str
    match_policy: str
    waiting_time_seconds: float
    num_running: int = msgspec.field(name="running")
    num_pending: int = msgspec.field(name="pending")
    num_missing: int = msgspec.field(name="missing")


def gang_facts(pod: Pod, snapshot: Snapshot) -> GangFacts | None:
    """What is known of the gang of `pod`; None for a pod without one."""
    key = next(iter(gangs_of(pod)), "")
    return _facts_of_gang(key, snapshot.gangs) if key else None


def _num_starting(key: str, gangs: AllGangs) -> int:
    """How many pods of the gang are on a node and do not run yet."""
    members = gangs.members.get(key, ())
    return sum(bool(each.node_name) and each.phase != "Running" and _is_there(each) for each in members)


def _facts_of_gang(key: str, gangs: AllGangs) -> GangFacts:
    """What is known of the gang of this key."""
    settings, minimum = gangs.koordinator.settings(key), gangs.minimum(key)
    members = [each for each in gangs.members.get(key, ()) if _is_there(each)]
    num_running = sum(bool(each.node_name) and each.phase == "Running" for each in members)
    num_missing = 0 if minimum is None else max(0, minimum.least - len(members))
    return GangFacts(
        name=name_of_gang(key),
        group=() if minimum is None else tuple(map(name_of_gang, minimum.group)),
        min_member=None if minimum is None else minimum.least,
        mode="" if settings is None else settings.mode.value,
        match_policy="" if settings is None else settings.match_policy.value,
        waiting_time_seconds=0 if settings is None else settings.waiting_time.total_seconds(),
        num_running=num_running,
        num_pending=len(members) - num_running,
        num_missing=num_missing,
    )


def _is_there(pod: Pod) -> bool:
    return not (pod.is_terminal or pod.is_terminating)
