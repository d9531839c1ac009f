"""Clusters of koord-scheduler with gangs, and provers over them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from descheduler.model.koordinator.gang_settings import POD_GROUP_LABEL, PodGroup
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.placement.configuration.kube_scheduler.configuration import SchedulerConfiguration
from descheduler.placement.plugins.table import PLUGINS
from descheduler.placement.prover import LandingProver
from descheduler.placement.schedulers.koord_scheduler import koord_profile
from tests.builders import make_node, make_pod, make_snapshot

CONFIGURATION = SchedulerConfiguration((koord_profile(PLUGINS),))
"""koord-scheduler as its manifest has it."""
_DOMAIN = "gang.scheduling.koordinator.sh/"


def group_of(name: str, minimum: int, policy: str = "", *, groups: Sequence[str] = (), mode: str = "") -> PodGroup:
    """A PodGroup in namespace `default`; `groups` are the names of all gangs of its group."""
    listed = ", ".join(f'"default/{each}"' for each in groups)
    annotations = {"match-policy": policy, "mode": mode, "groups": f"[{listed}]" if groups else ""}
    return PodGroup(
        "default", name, minimum, annotations={f"{_DOMAIN}{key}": value for key, value in annotations.items() if value}
    )


def member(name: str, gang: str = "train", *, node: str = "old", cpu: str = "1", **facts: Any) -> Pod:
    """A pod of a gang, of an owner of its own that creates the same again."""
    labels = {POD_GROUP_LABEL: gang} if gang else {}
    known = {"labels": labels, "owners": [f"ReplicaSet/{name}"], "scheduler": "koord-scheduler"}
    return make_pod(name, **{**known, "node": node, "cpu": cpu, **facts})


def nodes_of(*cpus: int, cordoned: int = 0) -> list[Node]:
    """Nodes `n0`, `n1`… of these sizes, and a cordoned node `old` of `cordoned` cores."""
    nodes = [make_node(f"n{index}", cpu=str(cpu)) for index, cpu in enumerate(cpus)]
    return [*nodes, make_node("old", cpu=str(cordoned or 100), unschedulable=True)]


def prover_of(nodes: Iterable[Node], pods: Iterable[Pod], groups: Iterable[PodGroup] = ()) -> LandingProver:
    """A prover whose scheduler is koord-scheduler."""
    return LandingProver(make_snapshot(nodes, pods, pod_groups=tuple(groups)), configuration=CONFIGURATION)
