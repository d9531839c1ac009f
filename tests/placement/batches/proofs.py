"""Batches of victims, and what is proved of them."""

from __future__ import annotations

from collections.abc import Sequence

from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.placement.landings.landing import JointVerdict
from descheduler.placement.prover import LandingProver
from tests.builders import make_node, make_pod, make_snapshot
from tests.placement.workloads import pod_named


def prove(nodes: Sequence[Node], pods: Sequence[Pod], *victims: str) -> JointVerdict:
    """The verdict on the pods of these names, or else of all."""
    snapshot = make_snapshot(nodes, pods)
    return LandingProver(snapshot).prove([pod_named(snapshot, name) for name in victims] or snapshot.pods)


def victim(name: str, **facts: object) -> Pod:
    """A pod of an owner of its own on the node `c`, which is cordoned in these tests."""
    return make_pod(name, node="c", owners=[f"ReplicaSet/{name}"], **facts)


def cordoned(**facts: object) -> Node:
    """The node that all victims leave, and that takes none of them back."""
    return make_node("c", unschedulable=True, **facts)
