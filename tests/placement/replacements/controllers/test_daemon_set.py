"""DaemonSets create a pod for its own node, as long as that is to have one."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.placement.landings.landing import LandingVerdict
from descheduler.placement.prover import LandingProver
from descheduler.placement.replacements.answer import Returns
from tests.builders import Object, node_object, pod_object
from tests.placement.replacements.controllers.answers import answer
from tests.placement.workloads import cluster_of, pod_named, workload_object

VICTIM = pod_object("victim", owners=["DaemonSet/agent"], node="a")


def daemon_set(**spec: Any) -> Object:
    """The DaemonSet `agent`."""
    return workload_object("DaemonSet/agent", **spec)


@pytest.mark.parametrize(
    ("node", "cause"),
    [
        pytest.param({}, "", id="healthy"),
        pytest.param(
            {"unschedulable": True, "taints": ["node.kubernetes.io/unschedulable:NoSchedule"]}, "", id="cordoned"
        ),
        pytest.param({"taints": ["node.kubernetes.io/not-ready:NoExecute"]}, "", id="not ready, NoExecute alone"),
        pytest.param({"taints": ["old:PreferNoSchedule"]}, "", id="PreferNoSchedule"),
        pytest.param({"taints": ["old:NoSchedule"]}, "untolerated taint old:NoSchedule", id="tainted"),
        pytest.param(
            {"taints": ["node.kubernetes.io/not-ready:NoSchedule"]},
            "untolerated taint node.kubernetes.io/not-ready:NoSchedule",
            id="not ready",
        ),
    ],
)
def test_taints_decide_whether_a_node_is_to_have_a_pod(node: Object, cause: str) -> None:
    made = answer(VICTIM, daemon_set(), node_object("a", **node))

    assert made.node == ("" if cause else "a")
    assert made.cause == (f"DaemonSet agent creates no pod on node a: {cause}" if cause else "")


def test_present_template_decides_and_not_the_running_pod() -> None:
    template = pod_object("t", node_selector={"pool": "other"})

    made = answer(VICTIM, daemon_set(template=template), node_object("a"))

    assert made.cause == (
        "DaemonSet agent creates no pod on node a: its node selector or node affinity does not match the node"
    )


def test_node_that_is_gone_gets_no_pod() -> None:
    made = answer(VICTIM, daemon_set(), node_object("b"))

    assert made.cause == "DaemonSet agent creates no pod: node a does not exist"


def test_other_pod_of_the_node_stands_in_for_the_evicted_one() -> None:
    other = pod_object("other", owners=["DaemonSet/agent"], node="a")

    assert answer(VICTIM, other, daemon_set()).cause == "another pod of DaemonSet agent is on node a"


def test_other_pod_that_is_evicted_before_does_not_stand_in() -> None:
    other = pod_object("other", owners=["DaemonSet/agent"], node="a")

    assert answer(VICTIM, other, daemon_set(), gone=("other",)).node == "a"


@pytest.mark.parametrize(
    ("node", "field", "is_created"),
    [("a", "metadata.name", False), ("b", "metadata.name", True), ("a", "metadata.uid", True), ("", "", True)],
)
def test_pending_pod_stands_in_on_the_node_that_its_affinity_names(node: str, field: str, is_created: bool) -> None:
    term = {"matchFields": [{"key": field, "operator": "In", "values": [node]}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    affinity = {"nodeAffinity": required} if node else None
    pending = pod_object("other", owners=["DaemonSet/agent"], node="", phase="Pending", affinity=affinity)

    assert answer(VICTIM, pending, daemon_set()).is_created is is_created


@pytest.mark.parametrize(("key", "is_created"), [("node.kubernetes.io/network-unavailable", True), ("old", False)])
def test_controller_adds_the_toleration_that_goes_with_the_network_of_the_host(key: str, is_created: bool) -> None:
    """The running pod has it; other tolerations that the template lacks are not added again."""
    tolerations = [{"key": key, "operator": "Exists", "effect": "NoSchedule"}]
    victim = pod_object("victim", owners=["DaemonSet/agent"], node="a", tolerations=tolerations)

    made = answer(victim, daemon_set(), node_object("a", taints=[f"{key}:NoSchedule"]))

    assert made.is_created is is_created


@pytest.mark.parametrize(("surge", "is_early"), [(1, True), ("25%", True), (0, False), ("0%", False)])
def test_pod_comes_beside_the_terminating_one_only_with_max_surge(surge: object, is_early: bool) -> None:
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge}}

    made = answer(VICTIM, daemon_set(updateStrategy=strategy))

    assert (made.returns, made.is_early) == (Returns.OWN_NODE, is_early)


@pytest.mark.parametrize("objects", [(), (daemon_set(),)], ids=["from the pod alone", "from the DaemonSet"])
def test_replacement_lands_on_its_own_node_even_if_that_is_cordoned(objects: tuple[Object, ...]) -> None:
    taints = ["node.kubernetes.io/unschedulable:NoSchedule"]
    snapshot = cluster_of(VICTIM, *objects, node_object("a", unschedulable=True, taints=taints), node_object("b"))

    landing = LandingProver(snapshot).consider(pod_named(snapshot, "victim"))

    assert (landing.verdict, landing.ties, landing.returns_to_source) == (LandingVerdict.LANDS, ("a",), True)


def test_replacement_that_does_not_fit_on_its_node_stays_pending() -> None:
    template = pod_object("t", cpu="9")
    snapshot = cluster_of(VICTIM, daemon_set(template=template), node_object("a", cpu="2"), node_object("b", cpu="20"))

    assert LandingProver(snapshot).consider(pod_named(snapshot, "victim")).verdict is LandingVerdict.NO
