"""`descheduler explain podgroup`: a gang, its pods, what it needs, and what keeps it from running."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal

from descheduler.cluster.snapshot import Snapshot
from descheduler.explanation.gangs import facts_of_gang, num_starting
from descheduler.explanation.koordinator.scheduling import Scheduling, is_pending
from descheduler.explanation.subjects import find_key
from descheduler.model.gangs import AllGangs
from descheduler.model.koordinator.scheduler_name import scheduler_name_of
from descheduler.model.pod import Pod
from descheduler.model.text.counted import counted
from descheduler.placement.plugins.coscheduling.plugin import Coscheduling
from descheduler.report.explanation.pod import GangFacts
from descheduler.report.explanation.pod_group import GangMember, PodGroupExplanation
from descheduler.report.identities import reference

__all__ = ["explain_pod_group"]

_NO_NAME = "'' (an empty name)"
_MOST_GANGS = 100
"""Other gangs of its group that are looked at; it may list thousands."""


def explain_pod_group(name: str, snapshot: Snapshot, scheduling: Scheduling) -> PodGroupExplanation:
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
