"""NodeFit: what keeps a pod off a node, and the same question asked for many nodes at a time."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from descheduler.eviction.node_fit import NodeFit, NodeSet, TrialRoom
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from tests.builders import Object, make_node, make_pod, make_view, required_anti_affinity, required_node_affinity


def obstacle(pod: Pod, node: Node, *others: Pod) -> str | None:
    """What keeps `pod` off `node`, which runs `others` and, if it is there, the pod itself."""
    return NodeFit(make_view([node], [pod, *others])).obstacle(pod, node)


UNREADABLE_ANTI_AFFINITY = {
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": "zone", "labelSelector": {"matchExpressions": [{"key": "app", "operator": "Like"}]}}
        ]
    }
}


@pytest.mark.parametrize(
    ("pod", "node", "expected"),
    [
        pytest.param(make_pod("p"), make_node("b"), None, id="an empty node takes a pod without wishes"),
        pytest.param(
            make_pod("p", tolerations=[{"operator": "Exists"}]),
            make_node("b", unschedulable=True),
            "node is not schedulable",
            id="a cordon counts whatever the pod tolerates",
        ),
        pytest.param(
            make_pod("p", node_selector={"zone": "1"}),
            make_node("b", labels={"zone": "2"}),
            "pod node selector does not match the node label",
            id="the node selector counts",
        ),
        pytest.param(
            make_pod("p", affinity=required_node_affinity("zone", "1")),
            make_node("b"),
            "pod node selector does not match the node label",
            id="the required node affinity counts",
        ),
        pytest.param(
            make_pod("p", affinity=required_node_affinity("zone")),
            make_node("b"),
            "nodeSelectorTerms[0].matchExpressions[0].values: Invalid value: []: "
            "for 'in', 'notin' operators, values set can't be empty",
            id="a required node affinity that cannot be read is named as it is",
        ),
        pytest.param(
            make_pod("p", affinity=UNREADABLE_ANTI_AFFINITY),
            make_node("b"),
            '"Like" is not a valid label selector operator',
            id="so is an anti-affinity",
        ),
        pytest.param(
            make_pod("p"),
            make_node("b", taints=["dedicated=db:NoSchedule"]),
            "pod does not tolerate taints on the node",
            id="a NoSchedule taint keeps pods off",
        ),
        pytest.param(
            make_pod("p"),
            make_node("b", taints=["flaky:NoExecute"]),
            "pod does not tolerate taints on the node",
            id="a NoExecute taint keeps pods off",
        ),
        pytest.param(
            make_pod("p"),
            make_node("b", taints=["flaky:PreferNoSchedule"]),
            None,
            id="a PreferNoSchedule taint does not",
        ),
        pytest.param(
            make_pod("p", tolerations=[{"key": "dedicated", "operator": "Exists"}]),
            make_node("b", taints=["dedicated=db:NoSchedule"]),
            None,
            id="a tolerated taint does not",
        ),
        pytest.param(
            make_pod("p", cpu="2001m"),
            make_node("b", cpu="2"),
            "insufficient cpu",
            id="a milli core too much is too much",
        ),
        pytest.param(make_pod("p", memory="1Gi"), make_node("b", memory="1Gi"), None, id="exactly enough is enough"),
        pytest.param(
            make_pod("p", requests={"nvidia.com/gpu": "1"}),
            make_node("b"),
            "insufficient nvidia.com/gpu",
            id="a resource that the node does not list is missing",
        ),
        pytest.param(
            make_pod("p", requests={"nvidia.com/gpu": "1"}),
            make_node("b", allocatable={"nvidia.com/gpu": "1"}),
            None,
            id="a resource that the node lists is there",
        ),
        pytest.param(make_pod("p"), make_node("b", pods="0"), "insufficient pods", id="no room for another pod"),
        pytest.param(
            make_pod("p", requests={"cpu": "9", "pods": "200"}),
            make_node("b"),
            "insufficient pods",
            id="pods that containers request come before any other resource",
        ),
    ],
)
def test_first_obstacle_is_named(pod: Pod, node: Node, expected: str | None) -> None:
    assert obstacle(pod, node) == expected


def test_own_node_is_judged_without_resources() -> None:
    pod = make_pod("p", node="a", cpu="3")

    assert obstacle(pod, make_node("a", cpu="1", pods="1")) is None


def test_explicit_zero_request_fails_on_an_overcommitted_node() -> None:
    node, full = make_node("b", cpu="1"), make_pod("big", node="b", cpu="1200m")

    assert obstacle(make_pod("p", cpu="0"), node, full) == "insufficient cpu"
    assert obstacle(make_pod("p"), node, full) is None


def test_finished_pods_hold_nothing_and_terminating_pods_do() -> None:
    node = make_node("b", cpu="1")
    pod = make_pod("p", cpu="600m")

    assert obstacle(pod, node, make_pod("done", node="b", cpu="1", phase="Succeeded")) is None
    assert obstacle(pod, node, make_pod("leaving", node="b", cpu="1", deleted=5)) == "insufficient cpu"


def test_node_with_more_pods_than_allowed_lacks_pods_before_anything_else() -> None:
    crowd = [make_pod(name, node="b") for name in ("x", "y")]

    assert obstacle(make_pod("p", cpu="9"), make_node("b", pods="1"), *crowd) == "insufficient pods"


ANTI = "pod matches inter-pod anti-affinity rule of other pod on node"


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        pytest.param(make_pod("q", node="b", labels={"app": "x"}), ANTI, id="a matching pod objects"),
        pytest.param(make_pod("q", node="b", labels={"app": "y"}), None, id="another label does not"),
        pytest.param(
            make_pod("q", node="b", labels={"app": "x"}, namespace="z"), None, id="another namespace does not"
        ),
        pytest.param(make_pod("q", node="a", labels={"app": "x"}), None, id="another node of the domain does not"),
    ],
)
def test_own_anti_affinity_is_judged_on_the_very_node(other: Pod, expected: str | None) -> None:
    pod = make_pod("p", affinity=required_anti_affinity({"app": "x"}, key="zone"))
    nodes = [make_node(name, labels={"zone": "1"}) for name in ("a", "b")]

    found = NodeFit(make_view(nodes, [pod, other])).obstacle(pod, nodes[1])

    assert found == expected


@pytest.mark.parametrize("spares", [pytest.param(True, id="upstream"), pytest.param(False, id="fixed")])
def test_namesake_in_another_namespace_objects_unless_upstream_is_mirrored(spares: bool) -> None:
    affinity = required_anti_affinity({"app": "x"}, namespaces=["z"])
    pod = make_pod("p", node="a", affinity=affinity)
    namesake = make_pod("p", node="b", namespace="z", labels={"app": "x"})
    nodes = [make_node(name, labels={"kubernetes.io/hostname": name}) for name in ("a", "b")]
    fit = NodeFit(make_view(nodes, [pod, namesake]), spares_namesakes=spares)

    assert fit.fits_any_other(pod, fit.node_set(nodes)) is spares


def test_room_check_of_koordinator_asks_for_neither_pod_count_nor_anti_affinity() -> None:
    pod = make_pod("p", node="a", cpu="1", affinity=required_anti_affinity({"app": "x"}))
    other = make_pod("q", node="b", labels={"app": "x"})
    nodes = [make_node("a"), make_node("b", pods="1")]
    fit = NodeFit(make_view(nodes, [pod, other]))

    assert fit.has_room_on_any_other(pod, fit.node_set(nodes))
    assert not fit.fits_any_other(pod, fit.node_set(nodes))


@pytest.mark.parametrize(
    "node",
    [
        pytest.param(make_node("b", cpu="500m"), id="too few cores"),
        pytest.param(make_node("b", unschedulable=True), id="a cordon"),
        pytest.param(make_node("b", taints=["x:NoSchedule"]), id="a taint"),
        pytest.param(make_node("b", labels={"zone": "2"}), id="another zone"),
    ],
)
def test_room_check_of_koordinator_refuses_the_rest(node: Node) -> None:
    pod = make_pod("p", node="a", cpu="1", node_selector={"zone": "1"})
    nodes = [make_node("a", labels={"zone": "1"}), node]
    fit = NodeFit(make_view(nodes, [pod]))

    assert not fit.has_room_on_any_other(pod, fit.node_set(nodes))


def test_booked_eviction_frees_its_room() -> None:
    pod, big = make_pod("p", node="a", cpu="3"), make_pod("big", node="b", cpu="3")
    nodes = [make_node("a"), make_node("b")]
    view = make_view(nodes, [pod, big], moves_take_effect=True)
    fit = NodeFit(view)
    others = fit.node_set(nodes)
    before = fit.fits_any_other(pod, others)

    view.book_eviction(big)

    assert not before
    assert fit.fits_any_other(pod, others)


def test_booked_arrival_takes_room_and_is_kept_away_from() -> None:
    apart = required_anti_affinity({"app": "x"})
    pod, shy = make_pod("p", node="a", cpu="3"), make_pod("shy", node="a", affinity=apart)
    moved = make_pod("moved", node="a", cpu="3", labels={"app": "x"})
    nodes = [make_node("a"), make_node("b")]
    view = make_view(nodes, [pod, shy, moved], moves_take_effect=True)
    fit = NodeFit(view)
    others = fit.node_set(nodes)
    before = [fit.fits_any_other(pod, others), fit.fits_any_other(shy, others)]

    view.book_eviction(moved, make_pod("moved+", node="b", cpu="3", labels={"app": "x"}))

    assert before == [True, True]
    assert [fit.fits_any_other(pod, others), fit.fits_any_other(shy, others)] == [False, False]


_labels = st.sampled_from([{}, {"app": "x"}, {"app": "y"}, {"app": "x", "zone": "1"}])
_affinities = st.sampled_from(
    [
        None,
        required_anti_affinity({"app": "x"}),
        required_anti_affinity({"app": "x"}, key="zone"),
        required_anti_affinity({"app": "y"}, key="zone", namespaces=["one", "two"]),
        required_anti_affinity({"app": "x"}, key="kubernetes.io/hostname", namespaces=["one", "two", "three"]),
        required_anti_affinity({"app": "not a label value"}),
        required_anti_affinity({"app": "x"}, labelSelector=None),
        required_node_affinity("zone", "1"),
    ]
)
_nodes: st.SearchStrategy[list[Object]] = st.lists(
    st.builds(
        dict,
        cpu=st.sampled_from([None, "0", "1", "2"]),
        pods=st.sampled_from(["1", "2", "5"]),
        labels=st.sampled_from([{}, {"zone": "1"}, {"zone": "2"}]),
        taints=st.sampled_from([(), ("t:NoSchedule",), ("t:NoExecute",), ("t:PreferNoSchedule",)]),
        unschedulable=st.sampled_from([False, False, False, True]),
        allocatable=st.sampled_from([{}, {"gpu": "1"}]),
    ),
    min_size=1,
    max_size=4,
)
_pods: st.SearchStrategy[list[Object]] = st.lists(
    st.builds(
        dict,
        name=st.sampled_from("pq"),
        namespace=st.sampled_from(["one", "two", "three"]),
        node=st.sampled_from(["", "n0", "n1", "n2", "n3", "gone"]),
        requests=st.sampled_from([{}, {"cpu": "0"}, {"cpu": "600m"}, {"cpu": "1"}, {"gpu": "1"}, {"gpu": "0"}]),
        labels=_labels,
        affinity=_affinities,
        tolerations=st.sampled_from([(), ({"key": "t", "operator": "Exists"},)]),
        node_selector=st.sampled_from([None, {"zone": "1"}]),
        phase=st.sampled_from(["Running", "Running", "Failed"]),
    ),
    min_size=1,
    max_size=6,
    unique_by=lambda facts: (facts["namespace"], facts["name"]),
)


def test_amounts_beyond_all_measure_are_compared_like_others() -> None:
    node = make_node("a", cpu="9E", memory="9E")
    negative = make_pod("odd", node="a", cpu="-9E", memory="-9E")

    assert obstacle(make_pod("huge", cpu="9E"), node, negative) is None
    assert obstacle(make_pod("huge", cpu="9E"), make_node("b", cpu="1"), negative) == "insufficient cpu"


@pytest.mark.long
@settings(max_examples=300, deadline=None)
@given(
    node_facts=_nodes,
    pod_facts=_pods,
    members=st.sets(st.integers(0, 3)),
    order=st.permutations(range(6)),
    spares_namesakes=st.booleans(),
    data=st.data(),
)
def test_answer_for_many_nodes_is_that_of_asking_one_by_one(
    node_facts: list[Object],
    pod_facts: list[Object],
    members: set[int],
    order: Sequence[int],
    spares_namesakes: bool,
    data: st.DataObject,
) -> None:
    """Before any booking and after each one; an instance that follows bookings answers like a fresh one."""
    nodes = [make_node(f"n{index}", **facts) for index, facts in enumerate(node_facts)]
    pods = [make_pod(**facts) for facts in pod_facts]
    view = make_view(nodes, pods, moves_take_effect=True)
    fit = NodeFit(view, spares_namesakes=spares_namesakes)
    chosen = [node for index, node in enumerate(nodes) if index in members]
    node_set = fit.node_set(chosen)

    for step in order:
        for pod in pods:
            _assert_same_answers(fit, NodeFit(view, spares_namesakes=spares_namesakes), pod, chosen, node_set)
        if step < len(pods) and data.draw(st.booleans()):
            view.book_eviction(pods[step])


def _assert_same_answers(fit: NodeFit, fresh: NodeFit, pod: Pod, chosen: Sequence[Node], node_set: NodeSet) -> None:
    fits = {node.name: fresh.obstacle(pod, node) is None for node in chosen}
    fits_elsewhere = any(fitting for name, fitting in fits.items() if name != pod.node_name)
    assert {node.name: fit.obstacle(pod, node) is None for node in chosen} == fits
    assert fit.fits_any_other(pod, node_set) is fits_elsewhere
    assert fit.fits_any(pod, node_set) is any(fits.values())
    assert fit.has_room_on_any_other(pod, node_set) or not fits_elsewhere


@pytest.mark.parametrize(
    ("overbooked", "asked", "is_placed"),
    [
        pytest.param({"cpu": "2"}, {"cpu": "100m"}, False, id="cpu"),
        pytest.param({"cpu": "2"}, {"memory": "1Mi"}, True, id="memory where cpu is overbooked"),
        pytest.param({"cpu": "2"}, {}, True, id="nothing where cpu is overbooked"),
        pytest.param({"memory": "2Gi"}, {"memory": "1Mi"}, False, id="memory"),
        pytest.param({"memory": "2Gi"}, {"cpu": "100m"}, True, id="cpu where memory is overbooked"),
        pytest.param({"memory": "1000Mi"}, {"memory": "24Mi"}, True, id="the last of the memory"),
        pytest.param({"memory": "1000Mi"}, {"memory": "25Mi"}, False, id="more than the last of it"),
    ],
)
def test_overbooked_node_takes_pods_that_request_nothing_of_that(
    overbooked: Object, asked: Object, is_placed: bool
) -> None:
    full = make_node("full", cpu="1", memory="1Gi")
    node_fit = NodeFit(make_view([full], [make_pod("large", node="full", **overbooked)]))
    room = TrialRoom(node_fit, node_fit.node_set([full]), checks_fit=False)
    pod = make_pod("p", node="other", **asked)

    assert room.place_all([pod]) is (None if is_placed else pod)
