"""Conflicts are those of comparing every term with every pod."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.strategies.shared.anti_affinity_conflicts import AntiAffinityConflicts
from tests.builders import make_node, make_pod

NODES = [
    make_node("a", labels={"zone": "east"}),
    make_node("b", labels={"zone": "east"}),
    make_node("c", labels={"zone": "west"}),
    make_node("d"),
]
_expressions = st.fixed_dictionaries(
    {"key": st.sampled_from(["k", "l"]), "operator": st.sampled_from(["In", "NotIn"]), "values": st.just(["x", "y"])}
) | st.fixed_dictionaries({"key": st.just("k"), "operator": st.sampled_from(["Exists", "DoesNotExist", "Broken"])})
_terms = st.fixed_dictionaries(
    {
        "topologyKey": st.sampled_from(["zone", "kubernetes.io/hostname", "absent"]),
        "labelSelector": st.fixed_dictionaries({"matchExpressions": st.lists(_expressions, max_size=2)}),
    },
    optional={"namespaces": st.lists(st.sampled_from(["n", "m", "gone"]), max_size=2)},
)
_labels = st.dictionaries(st.sampled_from(["k", "l"]), st.sampled_from(["x", "y", "z"]))


@st.composite
def _pods(draw: st.DrawFn) -> list[Pod]:
    return [
        make_pod(
            f"p{draw(st.integers(0, 3))}" if draw(st.booleans()) else f"q{index}",
            namespace=draw(st.sampled_from(["n", "m"])),
            node=draw(st.sampled_from(["a", "b", "c", "d"])),
            labels=draw(_labels),
            affinity=_anti(draw(st.lists(_terms, max_size=3))),
        )
        for index in range(draw(st.integers(0, 6)))
    ]


def _anti(terms: list[dict[str, Any]]) -> dict[str, Any]:
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}


def _conflicts_one_by_one(pod: Pod, others: list[Pod], *, spares_namesakes: bool) -> bool:
    """The rule of upstream as a double loop."""
    nodes: dict[str, Node] = {node.name: node for node in NODES}
    for term in pod.spec.affinity.anti_required if pod.spec.affinity else ():
        if term.error:
            return False
        for other in others:
            is_spared = other.name == pod.name and (spares_namesakes or other.namespace == pod.namespace)
            if is_spared or other.namespace not in (term.namespaces or (pod.namespace,)):
                continue
            value = nodes[pod.node_name].labels.get(term.topology_key)
            is_near = other.node_name == pod.node_name or (
                value is not None and nodes[other.node_name].labels.get(term.topology_key) == value
            )
            if is_near and term.selector.matches(other.labels):
                return True
    return False


@pytest.mark.long
@given(_pods(), st.booleans(), st.data())
def test_conflicts_are_those_of_asking_every_pod_also_after_evictions(
    pods: list[Pod], spares_namesakes: bool, data: st.DataObject
) -> None:
    listed = {node.name: [pod for pod in pods if pod.node_name == node.name] for node in NODES}
    conflicts = AntiAffinityConflicts(NODES, listed, spares_namesakes=spares_namesakes)
    before = [conflicts.find(pod) is not None for pod in pods]
    evicted = [pod for pod in pods if data.draw(st.booleans())]

    for pod in evicted:
        conflicts.forget(pod)
    after = [conflicts.find(pod) is not None for pod in pods]

    left = [pod for pod in pods if all(pod is not gone for gone in evicted)]
    assert before == [_conflicts_one_by_one(pod, pods, spares_namesakes=spares_namesakes) for pod in pods]
    assert after == [_conflicts_one_by_one(pod, left, spares_namesakes=spares_namesakes) for pod in pods]
