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


def _pod(name: str, node: str, *terms: dict[str, Any], namespace: str = "n", k: str = "x") -> Pod:
    return make_pod(name, namespace=namespace, node=node, labels={"k": k}, affinity=_anti([*terms]) if terms else None)


def _term(key: str = "zone", **fields: Any) -> dict[str, Any]:
    return {"topologyKey": key, "labelSelector": {"matchLabels": {"k": "x"}}, **fields}


@pytest.mark.parametrize(
    ("others", "sentence"),
    [
        pytest.param([], None, id="no partner"),
        pytest.param([_pod("q", "a")], "with pod n/q on node a", id="on the same node"),
        pytest.param([_pod("q", "b")], "with pod n/q in zone=east", id="in the same domain"),
        pytest.param([_pod("q", "b"), _pod("r", "a")], "with pod n/r on node a", id="the node before the domain"),
        pytest.param([_pod("q", "c")], None, id="in another domain"),
        pytest.param([_pod("q", "d")], None, id="on a node without the label"),
        pytest.param([_pod("q", "a", namespace="m")], None, id="in another namespace"),
        pytest.param([_pod("q", "a", k="y")], None, id="of other labels"),
    ],
)
def test_first_partner_of_a_pod_is_named_with_its_place(others: list[Pod], sentence: str | None) -> None:
    conflict = _found(_pod("p", "a", _term(), k="z"), others)

    assert conflict == (None if sentence is None else f"violates required anti-affinity {sentence}")


@pytest.mark.parametrize(
    ("namespaces", "others", "sentence"),
    [
        pytest.param(
            ["n", "m"], [_pod("q", "a"), _pod("r", "b", namespace="m")], "m/r in zone=east", id="another first"
        ),
        pytest.param(
            ["n", "m"], [_pod("q", "b"), _pod("r", "a", namespace="m")], "m/r on node a", id="near in the first"
        ),
    ],
)
def test_first_namespace_with_a_partner_decides(namespaces: list[str], others: list[Pod], sentence: str) -> None:
    """Namespaces come in the order of their names, m before n."""
    assert (_found(_pod("p", "a", _term(namespaces=namespaces), k="z"), others) or "").endswith(sentence)


@pytest.mark.parametrize(
    ("other", "spared", "spared_upstream"),
    [
        pytest.param(_pod("p", "a", namespace="m"), False, True, id="a namesake in another namespace"),
        pytest.param(_pod("q", "a", namespace="m"), False, False, id="another pod"),
    ],
)
def test_namesakes_are_spared_upstream(other: Pod, spared: bool, spared_upstream: bool) -> None:
    pod = _pod("p", "a", _term(namespaces=["m", "n"]), k="z")

    assert [(_found(pod, [other], spares=spares) is None) for spares in (False, True)] == [spared, spared_upstream]


def test_replacement_conflicts_with_pods_beside_the_one_that_left() -> None:
    pod, partner = _pod("p", "a", _term()), _pod("q", "b")
    conflicts = AntiAffinityConflicts(NODES, {"a": [pod], "b": [partner]}, spares_namesakes=False)

    def found(node: str, left: Pod) -> str | None:
        conflict = conflicts.find_moved(_pod("p+", node, _term()), left)
        return None if conflict is None else conflict.partner

    assert [found(node, pod) for node in "abc"] == ["n/q", "n/q", None]
    assert found("a", partner) == "n/p"
    assert conflicts.find_moved(_pod("plain", "a"), pod) is None


def _found(pod: Pod, others: list[Pod], *, spares: bool = False) -> str | None:
    pods = [pod, *others]
    listed = {node.name: [each for each in pods if each.node_name == node.name] for node in NODES}
    conflict = AntiAffinityConflicts(NODES, listed, spares_namesakes=spares).find(pod)
    return None if conflict is None else conflict.sentence
