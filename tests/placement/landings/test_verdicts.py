"""What a landing tells: its verdict by both clocks, node, lead, conditions and message."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.placement.landings.landing import Landing, worst
from descheduler.placement.landings.verdicts import as_likely, as_unknown, of_live_size, of_template_size, on_any
from descheduler.placement.prover import LandingProver
from tests.builders import Object, make_node, make_pod, make_snapshot, node_object, pod_object
from tests.placement.clusters import HOSTNAME
from tests.placement.considered import LANDS, LANDS_IF, LIKELY, NO, UNKNOWN, consider
from tests.placement.workloads import cluster_of, pod_named, workload_object


def landing(*objects: Object, victim: str = "victim") -> Landing:
    return consider(cluster_of(*objects), victim)


def leaving(**facts: Any) -> Object:
    return pod_object("victim", node="a", **facts)


CLOSED = node_object("a", unschedulable=True)


def test_landing_that_is_certain_has_no_message() -> None:
    found = landing(CLOSED, node_object("b"), node_object("c", cpu="8"), leaving(cpu="1"))

    assert (found.verdict, found.cold, found.node, found.ties) == (LANDS, LANDS, "c", ("c",))
    assert (found.message, found.cause, found.conditions, dict(found.obstacles)) == ("", "", (), {})
    assert found.margin is not None
    assert found.margin > 0
    assert not found.returns_to_source
    assert not found.is_open


def test_only_node_that_takes_it_is_the_one_that_it_leaves() -> None:
    """Why no other does is told; not where there is no other, or where another one does."""
    lone = node_object("a"), leaving(cpu="2")

    alone = landing(*lone)
    only = landing(*lone, node_object("b", cpu="1"))
    either = landing(*lone, node_object("b"))

    assert [found.only_return for found in (alone, either)] == ["", ""]
    assert only.only_return == "1/2 nodes are available for the replacement pod: 1 insufficient cpu"
    assert [found.returns_to_source for found in (alone, only, either)] == [True, True, False]


def test_replacement_that_waits_for_the_room_of_its_victim_is_cold() -> None:
    found = landing(node_object("a", cpu="2"), leaving(cpu="2"))

    assert (found.verdict, found.cold) == (LANDS, NO)


def test_refusal_counts_the_nodes_of_each_reason() -> None:
    found = landing(CLOSED, node_object("b", cpu="1"), leaving(cpu="2"))

    assert (found.verdict, found.cold, found.node) == (NO, NO, None)
    assert dict(found.obstacles) == {"Insufficient cpu": 1, "node(s) were unschedulable": 1}
    assert found.message == ("0/2 nodes are available for the replacement pod: 1 insufficient cpu, 1 unschedulable")
    assert found.refusal is None


def test_refusal_before_nodes_are_looked_at_is_told_as_such() -> None:
    gated = workload_object("ReplicaSet/web", template=pod_object("t", spec={"schedulingGates": [{"name": "wait"}]}))

    found = landing(CLOSED, node_object("b"), leaving(), gated)

    assert found.refusal is not None
    assert found.message == "the scheduler rejects the replacement pod: waiting for scheduling gates: [wait]"


def test_likely_landing_names_what_is_not_checked_and_the_node() -> None:
    found = landing(CLOSED, node_object("b"), leaving(scheduler="theirs"))

    assert (found.verdict, found.node) == (LIKELY, "b")
    assert found.cause == "scheduler theirs is not modelled"
    assert found.message == "likely scheduled onto b; scheduler theirs is not modelled"


def test_refusal_that_another_scheduler_may_not_share_is_unknown() -> None:
    """It may let pods of any number share a node that has a spread constraint against it."""
    spread: dict[str, Any] = {"maxSkew": 1, "topologyKey": HOSTNAME, "whenUnsatisfiable": "DoNotSchedule"}
    spread |= {"labelSelector": {"matchLabels": {"app": "a"}}}
    labels = {"app": "a"}
    others = [pod_object(f"o{n}", node="b", labels=labels, owners=["ReplicaSet/o"]) for n in range(2)]
    victim = leaving(scheduler="theirs", labels=labels, spread=[spread])
    zero = node_object("c", pods="0")

    found = landing(CLOSED, node_object("b"), zero, victim, *others)

    assert (found.verdict, found.cause) == (UNKNOWN, "scheduler theirs is not modelled")
    assert found.message.startswith("scheduler theirs is not modelled; by the rules of kube-scheduler 0/3 nodes")


@pytest.mark.parametrize(
    ("verdicts", "gravest"),
    [
        ([], LANDS),
        ([LANDS, LANDS_IF], LANDS_IF),
        ([LIKELY, LANDS_IF], LIKELY),
        ([UNKNOWN, LIKELY], UNKNOWN),
        ([UNKNOWN, NO, LANDS], NO),
    ],
)
def test_proven_no_is_the_gravest(verdicts: list[Any], gravest: Any) -> None:
    assert worst(verdicts) is gravest


def lands_on_b() -> Landing:
    return landing(CLOSED, node_object("b"), leaving())


def test_landing_under_a_condition_is_no_better_than_that() -> None:
    found = lands_on_b().under("if it rains").under("and pours")

    assert (found.verdict, found.cold, found.conditions) == (LANDS_IF, LANDS_IF, ("if it rains", "and pours"))
    refused = landing(CLOSED, leaving()).under("whatever")
    assert (refused.verdict, refused.cold) == (NO, NO)


def test_landing_that_depends_on_the_nodes_of_others_is_likely_at_best() -> None:
    likely = as_likely(lands_on_b(), "a plugin is unknown")
    refused = landing(CLOSED, leaving())

    assert (likely.verdict, likely.cold, likely.cause) == (LIKELY, LIKELY, "a plugin is unknown")
    assert likely.message == "likely scheduled onto b; a plugin is unknown, and other pods may get its last node"
    assert as_likely(refused, "a plugin is unknown") is refused


def test_landing_on_any_of_several_nodes_is_open() -> None:
    found = on_any(lands_on_b(), ["b", "c"], "a plugin is unknown")

    assert (found.ties, found.margin, found.is_open, found.open_cause) == (
        ("b", "c"),
        None,
        True,
        "a plugin is unknown",
    )
    assert found.message == "which of the nodes is chosen is unknown: a plugin is unknown"
    alone = lands_on_b()
    assert on_any(alone, ["b"], "a plugin is unknown") is alone


def test_landing_nowhere_that_depends_on_the_nodes_of_others_is_unknown() -> None:
    found = as_unknown(landing(CLOSED, leaving()), "a plugin is unknown")

    assert (found.verdict, found.cold, found.cause) == (UNKNOWN, UNKNOWN, "a plugin is unknown")
    assert found.message == (
        "a plugin is unknown, and other pods may leave it a node; by the prediction 0/1 nodes are available for the"
        " replacement pod: 1 unschedulable"
    )


@pytest.mark.parametrize(
    ("annotations", "template", "live"),
    [
        ({}, "admission", "admission changed them"),
        ({"vpaUpdates": "x"}, "VerticalPodAutoscaler", "VerticalPodAutoscaler"),
    ],
)
def test_conditions_about_sizes_name_who_sets_them(annotations: dict[str, str], template: str, live: str) -> None:
    victim = make_pod("victim", annotations=annotations)

    assert f"({template} changed them for this pod)" in of_template_size(victim)
    assert f"({live})" in of_live_size(victim)


SIZED = {"vpaUpdates": "Pod resources updated by web"}


@pytest.mark.parametrize(
    ("template", "live", "verdict", "condition"),
    [
        pytest.param("1", "1", LANDS, "", id="one size"),
        pytest.param("1", "2", LANDS, "", id="both sizes fit"),
        pytest.param("1", "5", LANDS_IF, "keeps the requests of its template", id="the size of the template fits"),
        pytest.param("5", "1", LANDS_IF, "gets the requests of this pod again", id="the size of the pod fits"),
        pytest.param("5", "6", NO, "", id="neither fits"),
    ],
)
def test_replacement_may_get_the_size_of_its_template_or_that_of_the_pod(
    template: str, live: str, verdict: Any, condition: str
) -> None:
    """Of a pod that VerticalPodAutoscaler has sized, and may size again."""
    made = workload_object("ReplicaSet/web", template=pod_object("t", cpu=template))

    found = landing(
        node_object("a", cpu="64", unschedulable=True), node_object("b"), leaving(cpu=live, annotations=SIZED), made
    )

    assert found.verdict is verdict
    assert [condition in each for each in found.conditions] == ([True] if condition else [])


def test_pod_that_is_not_looked_for_is_unknown_for_its_doubt() -> None:
    """For those who count proofs alone."""
    snapshot = make_snapshot([make_node("a"), make_node("b")], [make_pod("victim", scheduler="theirs")])

    found = LandingProver(snapshot).consider(pod_named(snapshot, "victim"), only_proven=True)

    assert (found.verdict, found.node, found.message) == (UNKNOWN, None, "scheduler theirs is not modelled")
