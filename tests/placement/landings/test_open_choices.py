"""Landings whose node nobody knows: a plugin or an extender of others scores, sorts or prepares scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.placement.configuration.kube_scheduler.configuration import load_scheduler_configuration
from descheduler.placement.framework.scheduler import Scheduler
from descheduler.placement.landings.landing import LandingVerdict
from descheduler.placement.landings.open_choices import FreePod, holds_more_than_room
from descheduler.placement.plugins.table import PLUGINS
from descheduler.placement.prover import LandingProver
from descheduler.placement.shadow.shadow_cluster import ShadowCluster
from tests.builders import Object, make_node, make_pod, make_snapshot
from tests.placement.considered import LANDS, LIKELY, UNKNOWN

RACK = "scheduler plugin Rack is not modelled"
CALLED = "scheduler extender http://rack is not called"
_DOCUMENT = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}


def plugin_at(*points: str) -> Object:
    """A configuration that enables the plugin Rack of somebody else at these points."""
    off = {"queueSort": {"disabled": [{"name": "*"}]}} if "queueSort" in points else {}
    enabled = {point: {**off.get(point, {}), "enabled": [{"name": "Rack"}]} for point in points}
    return {"profiles": [{"plugins": enabled}]}


def extender(*verbs: str, **facts: Any) -> Object:
    """A configuration with an extender that is asked by these verbs."""
    asked = {f"{verb}Verb": verb for verb in verbs}
    return {"extenders": [{"urlPrefix": "http://rack", "weight": 1, **asked, **facts}]}


def prover_of(configuration: Object, nodes: Sequence[Node], pods: Sequence[Pod]) -> LandingProver:
    document = {**_DOCUMENT, **configuration}
    return LandingProver(
        make_snapshot(nodes, pods), configuration=load_scheduler_configuration(document, plugins=PLUGINS)
    )


OPEN = pytest.mark.parametrize(
    ("configuration", "cause"),
    [
        pytest.param(plugin_at("score"), RACK, id="a plugin that scores"),
        pytest.param(plugin_at("preScore"), RACK, id="a plugin that prepares scores"),
        pytest.param(plugin_at("queueSort"), RACK, id="a plugin that sorts the queue"),
        pytest.param(extender("prioritize"), CALLED, id="an extender that prioritizes"),
        pytest.param(extender("prioritize", ignorable=True), CALLED, id="an ignorable extender that prioritizes"),
    ],
)
OLD = make_node("old", unschedulable=True)


@OPEN
def test_any_node_that_fits_may_be_chosen(configuration: Object, cause: str) -> None:
    nodes = [OLD, make_node("a", cpu="2"), make_node("b", cpu="8"), make_node("small", cpu="1")]
    pods = [make_pod("victim", node="old", cpu="2"), make_pod("other", node="b", cpu="1")]

    landing = prover_of(configuration, nodes, pods).consider(pods[0])

    assert (landing.verdict, landing.cause, landing.open_cause) == (LANDS, "", cause)
    assert (landing.node, landing.ties, landing.margin) == ("b", ("b", "a"), None)
    assert landing.message == f"which of the nodes is chosen is unknown: {cause}"


@OPEN
def test_only_node_that_fits_is_chosen(configuration: Object, cause: str) -> None:
    del cause
    victim = make_pod("victim", node="old", cpu="2")

    landing = prover_of(configuration, [OLD, make_node("a"), make_node("small", cpu="1")], [victim]).consider(victim)

    assert (landing.verdict, landing.ties, landing.open_cause, landing.message) == (LANDS, ("a",), "", "")


SSD = {"disk": "ssd"}


@OPEN
def test_replacement_that_needs_a_node_that_another_may_get_is_likely_at_best(
    configuration: Object, cause: str
) -> None:
    nodes = [OLD, make_node("a", cpu="4"), make_node("b", cpu="3", labels=SSD)]
    free, needs = make_pod("free", node="old", cpu="3"), make_pod("needs", node="old", cpu="3", node_selector=SSD)
    prover = prover_of(configuration, nodes, [free, needs])

    assert prover.book(free).node == "a"
    landing = prover.consider(needs)

    assert (landing.verdict, landing.node, landing.cause) == (LIKELY, "b", cause)
    assert landing.message == f"likely scheduled onto b; {cause}, and other pods may get its last node"


@OPEN
def test_replacement_without_a_node_that_another_may_leave_to_it_is_unknown(configuration: Object, cause: str) -> None:
    nodes = [OLD, make_node("a", cpu="3"), make_node("b", cpu="4", labels=SSD)]
    free, needs = make_pod("free", node="old", cpu="3"), make_pod("needs", node="old", cpu="3", node_selector=SSD)
    prover = prover_of(configuration, nodes, [free, needs])

    assert prover.book(free).node == "b"
    landing = prover.consider(needs)

    assert (landing.verdict, landing.node, landing.cause) == (UNKNOWN, None, cause)


@OPEN
def test_batch_that_depends_on_the_choice_is_not_proven(configuration: Object, cause: str) -> None:
    """Nine pods are too many to look at every order; one of them fits on one node alone, the others on any."""
    nodes = [OLD, *(make_node(f"n{number}", cpu="3") for number in range(8)), make_node("ssd", cpu="2", labels=SSD)]
    pods = [make_pod(f"p{number}", node="old", cpu="2") for number in range(8)]
    picky = make_pod("picky", node="old", cpu="2", node_selector=SSD)

    verdict = prover_of(configuration, nodes, [*pods, picky]).prove([*pods, picky])

    assert verdict.verdict is LIKELY
    assert {landing.cause for landing in verdict.landings} == {cause}


@OPEN
def test_batch_that_lands_whatever_is_chosen_is_proven(configuration: Object, cause: str) -> None:
    nodes = [OLD, *(make_node(name, cpu="8") for name in "abc")]
    pods = [make_pod(f"p{number}", node="old", cpu="1") for number in range(3)]
    prover = prover_of(configuration, nodes, pods)

    verdict = prover.prove(pods)

    assert (verdict.verdict, {landing.open_cause for landing in verdict.landings}) == (LANDS, {cause})
    assert [prover.book(pod).verdict for pod in pods] == [LANDS] * 3


def test_pods_with_room_for_all_of_them_anywhere_stay_proven() -> None:
    """More pods than nodes: each node has room for all of them."""
    nodes = [OLD, make_node("a", cpu="8"), make_node("b", cpu="8")]
    pods = [make_pod(f"p{number}", node="old", cpu="1") for number in range(5)]
    prover = prover_of(plugin_at("score"), nodes, pods)

    assert {prover.book(pod).verdict for pod in pods} == {LANDS}


@pytest.mark.parametrize(
    ("requests", "cause"),
    [
        pytest.param({"cpu": "1"}, "", id="a pod that does not ask for its resource"),
        pytest.param({"cpu": "1", "example.com/fpga": "1"}, CALLED, id="a pod that asks for its resource"),
    ],
)
def test_extender_of_a_resource_concerns_pods_that_ask_for_it(requests: dict[str, str], cause: str) -> None:
    configuration = extender("prioritize", managedResources=[{"name": "example.com/fpga"}])
    nodes = [OLD, *(make_node(name, allocatable={"example.com/fpga": "1"}) for name in "ab")]
    victim = make_pod("victim", node="old", requests=requests)

    landing = prover_of(configuration, nodes, [victim]).consider(victim)

    assert (landing.verdict, landing.ties, landing.open_cause) == (LANDS, ("a", "b"), cause)


@pytest.mark.parametrize(
    ("configuration", "cause"),
    [
        *(pytest.param(plugin_at(point), RACK, id=point) for point in ("filter", "reserve", "permit", "preBind")),
        pytest.param(plugin_at("multiPoint"), RACK, id="multiPoint"),
        pytest.param(plugin_at("bind"), RACK, id="bind"),
        pytest.param(extender("filter"), CALLED, id="an extender that filters"),
        pytest.param(extender("filter", ignorable=True), CALLED, id="an ignorable extender that filters"),
    ],
)
def test_what_may_refuse_a_node_makes_a_landing_likely_at_best(configuration: Object, cause: str) -> None:
    victim = make_pod("victim", node="old")

    landing = prover_of(configuration, [OLD, make_node("a"), make_node("b")], [victim]).consider(victim)

    assert (landing.verdict, landing.cause) == (LIKELY, cause)


@pytest.mark.parametrize(
    ("configuration", "doubt"),
    [
        pytest.param({}, "", id="kube-scheduler as it comes"),
        pytest.param(plugin_at("score"), "", id="a plugin that scores"),
        pytest.param(plugin_at("postFilter"), f", which is unknown: {RACK}", id="a plugin that preempts"),
        pytest.param(extender("preempt"), f", which is unknown: {CALLED}", id="an extender that is asked to preempt"),
    ],
)
def test_preemption_that_others_decide_about_is_unknown(configuration: Object, doubt: str) -> None:
    nodes = [OLD, make_node("a", cpu="2")]
    pods = [make_pod("victim", node="old", cpu="2", priority=10), make_pod("low", node="a", cpu="2", priority=0)]

    hint = prover_of(configuration, nodes, pods).preemption_hint(pods[0])

    assert hint == f"it would be scheduled onto a if pod default/low (priority 0) is preempted there{doubt}"


def test_pending_pod_of_lower_priority_may_go_first_where_nobody_knows_the_order() -> None:
    nodes = [OLD, make_node("a", cpu="2")]
    victim = make_pod("victim", node="a", cpu="2", priority=10)
    waiting = make_pod("waiting", node=None, phase="Pending", cpu="2", priority=0)

    verdicts: list[LandingVerdict] = [
        prover_of(configuration, nodes, [victim, waiting]).consider(victim).verdict
        for configuration in ({}, plugin_at("queueSort"))
    ]

    assert verdicts == [LANDS, LIKELY]


@OPEN
def test_as_many_nodes_as_pods_are_enough_where_each_takes_any_of_them(configuration: Object, cause: str) -> None:
    nodes = [OLD, make_node("a", cpu="4"), make_node("b", cpu="3")]
    pods = [make_pod(f"p{number}", node="old", cpu="3") for number in range(2)]
    prover = prover_of(configuration, nodes, pods)

    first, second = map(prover.book, pods)

    assert (first.verdict, first.node, first.ties) == (LANDS, "a", ("a", "b"))
    assert (second.verdict, second.node, second.ties) == (LANDS, "b", ("b", "a"))
    assert second.open_cause == cause


@pytest.mark.parametrize(
    ("facts", "is_more"),
    [
        pytest.param({"cpu": "1"}, False, id="room"),
        pytest.param({"requests": {"hugepages-2Mi": "2Mi"}}, False, id="huge pages"),
        pytest.param({"requests": {"example.com/gpu": "1"}}, True, id="a device"),
        pytest.param({"claims": ["data"]}, True, id="a claim for a volume"),
        pytest.param(
            {"spec": {"volumes": [{"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}}]}},
            True,
            id="a volume of its own",
        ),
    ],
)
def test_devices_and_volumes_are_more_than_room(facts: Any, is_more: bool) -> None:
    assert holds_more_than_room(make_pod("pod", **facts)) is is_more


@pytest.mark.parametrize(
    ("ties", "is_pending", "is_open"),
    [
        pytest.param((0,), False, False, id="a replacement with one node"),
        pytest.param((0, 1), False, True, id="one with several"),
        pytest.param((0,), True, True, id="a pending pod, whose turn is open too"),
    ],
)
def test_node_of_another_pod_is_open_where_its_choice_or_its_turn_is(
    ties: tuple[int, ...], is_pending: bool, is_open: bool
) -> None:
    pod = make_pod("pod")
    profile = load_scheduler_configuration({**_DOCUMENT, **plugin_at("score")}, plugins=PLUGINS).profiles[0]
    scheduler = Scheduler(ShadowCluster(make_snapshot([OLD], [pod])), profile, plugins=PLUGINS)

    found = FreePod(pod, 0, scheduler, pod, is_pending=is_pending, ties=ties)

    assert found.doubt == (RACK if is_open else "")
