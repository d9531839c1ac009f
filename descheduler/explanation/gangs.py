"""Gangs, as the snapshot has them."""

from __future__ import annotations

import msgspec

from descheduler.cluster.snapshot import Snapshot
from descheduler.documents.fields import Fields
from descheduler.model.groups.gangs import AllGangs, gangs_of, name_of_gang
from descheduler.model.pod import Pod

__all__ = ["GangFacts", "facts_of_gang", "gang_facts", "num_starting"]


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
    return facts_of_gang(key, snapshot.gangs) if key else None


def num_starting(key: str, gangs: AllGangs) -> int:
    """How many pods of the gang are on a node and do not run yet."""
    members = gangs.members.get(key, ())
    return sum(bool(each.node_name) and each.phase != "Running" and _is_there(each) for each in members)


def facts_of_gang(key: str, gangs: AllGangs) -> GangFacts:
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
