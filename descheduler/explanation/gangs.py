"""Gangs, as the snapshot has them."""

from __future__ import annotations

from descheduler.cluster.snapshot import Snapshot
from descheduler.model.koordinator.gang_settings import gang_id_of
from descheduler.model.koordinator.gangs import Gangs
from descheduler.model.pod import Pod
from descheduler.report.explanation.pod import GangFacts

__all__ = ["facts_of_gang", "gang_facts", "num_starting"]


def gang_facts(pod: Pod, snapshot: Snapshot) -> GangFacts | None:
    """What is known of the gang of `pod`; None for a pod without one."""
    gang_id = gang_id_of(pod)
    return facts_of_gang(gang_id, Gangs(snapshot.pods, snapshot.pod_groups)) if gang_id else None


def num_starting(gang_id: str, gangs: Gangs) -> int:
    """How many pods of the gang are on a node and do not run yet."""
    members = gangs.members.get(gang_id, ())
    return sum(bool(each.node_name) and each.phase != "Running" and _is_there(each) for each in members)


def facts_of_gang(gang_id: str, gangs: Gangs) -> GangFacts:
    """What is known of the gang of this id."""
    settings = gangs.settings(gang_id)
    members = [each for each in gangs.members.get(gang_id, ()) if _is_there(each)]
    num_running = sum(bool(each.node_name) and each.phase == "Running" for each in members)
    num_missing = 0 if settings is None else max(0, settings.min_available - len(members))
    return GangFacts(
        name=gang_id,
        group=() if settings is None else settings.group,
        min_available=None if settings is None else settings.min_available,
        mode="" if settings is None else settings.mode.value,
        match_policy="" if settings is None else settings.match_policy.value,
        waiting_time_seconds=0 if settings is None else settings.waiting_time.total_seconds(),
        num_running=num_running,
        num_pending=len(members) - num_running,
        num_missing=num_missing,
    )


def _is_there(pod: Pod) -> bool:
    return not (pod.is_terminal or pod.is_terminating)
