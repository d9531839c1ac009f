"""Whom Volcano's actions preempt and reclaim may evict: the product's session, cycle by cycle, by several choices."""

from __future__ import annotations

from collections.abc import Sequence

from descheduler.cluster.objects import snapshot_from_objects
from descheduler.cluster.request import SnapshotRequest
from descheduler.placement.configuration.volcano import VolcanoConfiguration, load_volcano_configuration
from descheduler.placement.needs import landing_annotations
from descheduler.placement.shadow.shadow_cluster import ShadowCluster
from descheduler.placement.volcano.actions.table import run_cycle
from descheduler.placement.volcano.order import Choices, FirstChoices
from descheduler.placement.volcano.plugins.table import VOLCANO_PLUGINS
from descheduler.placement.volcano.session import Session
from tests.conformance.volcano.worlds import RandomChoices
from tests.e2e.kube_api import Object

__all__ = ["possible_victims"]

_NUM_SEEDS = 8
_MOST_CYCLES = 6
_ENDING = "2026-01-01T00:00:00Z"


def possible_victims(objects: Sequence[Object], configuration: str) -> frozenset[frozenset[str]]:
    """The sets of pods, by name, that may be evicted until no cycle changes anything; none of them ends meanwhile."""
    read = load_volcano_configuration(configuration, modelled=VOLCANO_PLUGINS)
    players: list[Choices] = [FirstChoices(), *map(RandomChoices, range(_NUM_SEEDS))]
    return frozenset(_victims(objects, read, choices) for choices in players)


def _victims(objects: Sequence[Object], configuration: VolcanoConfiguration, choices: Choices) -> frozenset[str]:
    found: set[str] = set()
    for _ in range(_MOST_CYCLES):
        snapshot = snapshot_from_objects(objects, SnapshotRequest(annotations=landing_annotations()))
        session = Session(ShadowCluster(snapshot), configuration, plugins=VOLCANO_PLUGINS, choices=choices)
        run_cycle(session)
        session.close()
        evicted = {eviction.task.pod.name for eviction in session.evictions}
        if not evicted and not session.binds:
            break
        found |= evicted
        objects = [_after(obj, session, evicted) for obj in objects]
    return frozenset(found)


def _after(obj: Object, session: Session, evicted: set[str]) -> Object:
    """The object as the cycle leaves it."""
    metadata = obj["metadata"]
    key = f"{metadata.get('namespace', '')}/{metadata['name']}"
    if obj["kind"] == "PodGroup":
        return {**obj, "status": {**obj.get("status", {}), "phase": session.jobs[key].phase}}
    if obj["kind"] != "Pod":
        return obj
    if metadata["name"] in evicted:
        return {**obj, "metadata": {**metadata, "deletionTimestamp": _ENDING}}
    bound = session.binds.get(key)
    if bound is None:
        return obj
    return {**obj, "spec": {**obj["spec"], "nodeName": session.cluster.table.names[bound[0].node]}}
