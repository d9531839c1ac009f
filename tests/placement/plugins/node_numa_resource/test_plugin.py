"""NodeNUMAResource: which nodes have CPUs for pods that are pinned, and what is left of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from descheduler.cluster.snapshot import Snapshot
from descheduler.model.koordinator.node_reports import NODE_TOPOLOGY_KIND, NodeTopology
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.placement.framework.evaluation import PodEvaluation
from descheduler.placement.framework.scheduler import Scheduler
from descheduler.placement.framework.scheduling_plugin import shadow_cluster_of
from descheduler.placement.plugins.node_numa_resource.cpu_cache import AMPLIFICATION_ANNOTATION
from descheduler.placement.plugins.node_numa_resource.plugin import NodeNUMAResource
from descheduler.placement.plugins.table import PLUGINS
from descheduler.placement.schedulers.koord_scheduler import koord_profile
from descheduler.placement.shadow.shadow_cluster import Cycle, ShadowCluster
from tests.builders import make_node, make_pod, make_snapshot
from tests.placement.clusters import make_profile, obstacles
from tests.worlds.node_topologies import cpu_layout, make_topology, topologies_by_node

DOMAIN = "scheduling.koordinator.sh"
TOO_FEW = "not enough cpus available to satisfy request"


def pinned_pod(
    name: str, cpu: str = "2", *, spec: Mapping[str, str] | None = None, cpus: str = "", **facts: Any
) -> Pod:
    """A pod that gets CPUs of its own; `spec` is what it asks of them, `cpus` what it has."""
    stated = {f"{DOMAIN}/resource-spec": json.dumps(spec)} if spec else {}
    noted = {f"{DOMAIN}/resource-status": json.dumps({"cpuset": cpus})} if cpus else {}
    facts.setdefault("labels", {"koordinator.sh/qosClass": "LSR"})
    return make_pod(
        name, cpu=cpu, annotations=stated | noted, **{"node": "a" if cpus else "", "priority": 9000, **facts}
    )


def make_cpus(name: str = "a", **facts: Any) -> NodeTopology:
    return make_topology(name, **{"cpus": cpu_layout(), **facts})


def cluster(*pods: Pod, topology: NodeTopology | None = None, node: Node | None = None) -> ShadowCluster:
    found = topologies_by_node(topology) if topology is not None else {}
    return shadow(make_snapshot([node or make_node("a", cpu="8")], pods, node_topologies=found, kinds=_KINDS))


_KINDS = frozenset({NODE_TOPOLOGY_KIND})
FULL = {"requiredCPUBindPolicy": "FullPCPUs"}
SPREAD = {"requiredCPUBindPolicy": "SpreadByPCPUs"}


def shadow(snapshot: Snapshot) -> ShadowCluster:
    return shadow_cluster_of(snapshot, PLUGINS)


def against(pod: Pod, *others: Pod, topology: NodeTopology | None = None, node: Node | None = None) -> list[str]:
    """The reasons against node a, or against all nodes."""
    found = obstacles(NodeNUMAResource, cluster(*others, topology=topology, node=node), pod)
    return [reason for obstacle in found.values() for reason in obstacle.reasons]


@pytest.mark.parametrize(
    ("spec", "others", "expected"),
    [
        pytest.param(None, "1-7", [], id="a preferred policy refuses no node"),
        pytest.param(FULL, "0,2,4", [], id="a whole core is free"),
        pytest.param(FULL, "0,2,4,6", [TOO_FEW], id="parts of cores are free"),
        pytest.param(SPREAD, "0,2-7", [TOO_FEW], id="one core has room"),
        pytest.param(SPREAD, "0-1,4-7", [TOO_FEW], id="one core is free as a whole"),
        pytest.param(SPREAD, "0,2,4-7", [], id="two cores have room"),
    ],
)
def test_free_cpus_by_policy(spec: Mapping[str, str] | None, others: str, expected: list[str]) -> None:
    assert against(pinned_pod("p", spec=spec), pinned_pod("o", cpus=others), topology=make_cpus()) == expected


@pytest.mark.parametrize(
    "closed", [{"reserved": "0,2"}, {"kubelet_reserved": "0,2"}, {"system": "0,2"}, {"kubelet_pods": {"u": "0,2"}}]
)
def test_nobody_is_pinned_to_closed_cpus(closed: dict[str, Any]) -> None:
    """Koordinator's reference, §4.3: cpus(total) - allocated - kubelet reserved - reserved by the node."""
    other = pinned_pod("o", cpus="4,6")

    assert against(pinned_pod("p", spec=FULL), other, topology=make_cpus(**closed)) == [TOO_FEW]
    assert against(pinned_pod("p", spec=SPREAD), other, topology=make_cpus(**closed)) == []


@pytest.mark.parametrize(
    ("pod", "expected"),
    [
        pytest.param(pinned_pod("p", "1500m"), ["the requested CPUs must be integer"], id="part of a CPU"),
        pytest.param(pinned_pod("p", "3", spec=FULL), ["node(s) requested cpus not multiple cpus per core"], id="odd"),
        pytest.param(pinned_pod("p", "3"), [], id="odd, with a preferred policy"),
        pytest.param(pinned_pod("p", labels={}, spec=FULL), [], id="no class that is pinned"),
        pytest.param(pinned_pod("p", priority=5000, spec=FULL), [], id="a batch pod"),
        pytest.param(pinned_pod("p", "0", spec=FULL), [], id="no CPU"),
        pytest.param(pinned_pod("p", spec={"preferredCPUBindPolicy": "ConstrainedBurst"}), [], id="another policy"),
    ],
)
def test_requests(pod: Pod, expected: list[str]) -> None:
    full = make_cpus(reserved="0-5") if not expected else make_cpus()

    assert against(pod, topology=full) == expected


def test_annotation_that_cannot_be_read_is_an_error_everywhere() -> None:
    pod = make_pod("p", node="", cpu="1", annotations={f"{DOMAIN}/resource-spec": "{"})

    assert against(pod, topology=make_cpus()) == [
        "annotations resource-spec or numa-topology-spec of the pod cannot be read"
    ]


def test_node_without_cpu_topology_takes_no_pinned_pod() -> None:
    assert against(pinned_pod("p")) == ["node(s) invalid CPU Topology"]
    assert against(make_pod("p", node="")) == []


def test_nothing_is_known_where_topologies_were_not_read() -> None:
    found = obstacles(NodeNUMAResource, shadow(make_snapshot([make_node("a")])), pinned_pod("p"))

    assert [obstacle.code.value for obstacle in found.values()] == ["unknown"]


@pytest.mark.parametrize(
    ("label", "pod", "expected"),
    [
        ("FullPCPUsOnly", make_pod("p", node="", cpu="2"), [TOO_FEW]),
        ("FullPCPUsOnly", make_pod("p", node="", cpu="1"), ["node(s) requested cpus not multiple cpus per core"]),
        ("FullPCPUsOnly", make_pod("p", node="", cpu="500m"), ["the requested CPUs must be integer"]),
        ("FullPCPUsOnly", make_pod("p", node="", cpu=None), []),
        ("SpreadByPCPUs", make_pod("p", node="", cpu="2"), []),
        (
            "SpreadByPCPUs",
            pinned_pod("p", spec=FULL),
            ["node(s) cpu bind policy conflicts with pod's required cpu bind policy"],
        ),
        ("None", make_pod("p", node="", cpu="500m"), []),
    ],
)
def test_node_with_a_bind_policy_pins_all_its_pods(label: str, pod: Pod, expected: list[str]) -> None:
    node = make_node("a", labels={"node.koordinator.sh/cpu-bind-policy": label})

    assert against(pod, pinned_pod("o", cpus="0,2,4,6"), topology=make_cpus(), node=node) == expected


def test_kubelet_that_gives_out_whole_cores_is_a_bind_policy_too() -> None:
    topology = make_cpus(options={"full-pcpus-only": "true"}, reserved="0-6")

    assert against(make_pod("p", node="", cpu="2"), topology=topology) == [TOO_FEW]


def test_pod_and_node_with_different_numa_policies() -> None:
    node = make_node("a", labels={"node.koordinator.sh/numa-topology-policy": "Restricted"})
    pod = make_pod(
        "p", node="", cpu="1", annotations={f"{DOMAIN}/numa-topology-spec": '{"numaTopologyPolicy": "SingleNUMANode"}'}
    )

    assert against(pod, node=node) == ["node(s) NUMA Topology policy not match"]


@pytest.mark.parametrize(
    ("ratio", "cpu", "expected"),
    [
        ('{"cpu": 2}', "2", []),
        ('{"cpu": 2}', "3", ["Insufficient amplified cpu"]),
        ('{"cpu": 1}', "3", []),
        ('{"memory": 2}', "3", []),
        ("{", "1", ["node(s) invalid CPU amplification ratio"]),
        ('{"cpu": "2"}', "1", ["node(s) invalid CPU amplification ratio"]),
    ],
)
def test_pinned_cpus_count_amplified(ratio: str, cpu: str, expected: list[str]) -> None:
    """8 CPUs are 16 by the ratio; 6 of them are pinned, which makes 12 of the 16, and 2 more make 4."""
    node = replace(make_node("a", cpu="16"), annotations={AMPLIFICATION_ANNOTATION: ratio})
    other = pinned_pod("o", "6", cpus="0-5")

    assert against(pinned_pod("p", cpu), other, topology=make_cpus(), node=node) == expected


def evaluated(pod: Pod, found: ShadowCluster) -> tuple[Scheduler, PodEvaluation]:
    scheduler = Scheduler(found, koord_profile(PLUGINS), plugins=PLUGINS)
    return scheduler, scheduler.evaluate(pod)


def test_cpus_are_taken_and_given_back() -> None:
    found = cluster(topology=make_cpus(), node=make_node("a", cpu="8"))
    scheduler, evaluation = evaluated(pinned_pod("p", "4", spec=FULL), found)
    before = found.digest()

    placed = scheduler.place(evaluation, 0)

    assert len(placed.takings) == 1
    assert scheduler.evaluate(pinned_pod("q", "6", spec=FULL)).fits is False
    assert scheduler.evaluate(pinned_pod("q", "4", spec=FULL)).fits is True
    found.take_off(placed)
    assert found.digest() == before


def test_landing_that_reserve_would_refuse_is_conditional() -> None:
    """Filter does not look for free CPUs unless a policy is required."""
    found = cluster(pinned_pod("o", cpus="0-6", cpu="1"), topology=make_cpus())
    scheduler, evaluation = evaluated(pinned_pod("p"), found)

    assert evaluation.fits
    scheduler.place(evaluation, 0)
    assert evaluation.cycle.notes == ["NodeNUMAResource must find 2 free CPUs on node a to pin the pod to"]


@pytest.mark.parametrize("where", ["label", "kubelet", "pod"])
def test_numa_policy_is_a_condition_of_the_landing(where: str) -> None:
    policy = "SingleNUMANode"
    labels = {"node.koordinator.sh/numa-topology-policy": policy} if where == "label" else {}
    asked = {f"{DOMAIN}/numa-topology-spec": json.dumps({"numaTopologyPolicy": policy})} if where == "pod" else {}
    topology = make_cpus(policies=["SingleNUMANodePodLevel"] if where == "kubelet" else [])
    found = cluster(topology=topology, node=make_node("a", labels=labels))
    scheduler, evaluation = evaluated(make_pod("p", node="", cpu="1", annotations=asked, priority=9000), found)

    assert scheduler.conditions(evaluation.cycle, 0) == (
        "node a must admit the pod by NUMA topology policy SingleNUMANode (NodeNUMAResource)",
    )


def test_pod_without_pinned_cpus_costs_nothing_where_no_node_minds() -> None:
    found = cluster(topology=make_cpus())
    plugin = NodeNUMAResource(found, make_profile())

    assert plugin.pre_filter(Cycle(found.placement_class(make_pod("p", node="")), found)).is_for_good


@pytest.mark.parametrize("seed", range(60))
def test_placed_pods_never_open_a_node_and_bear_on_their_own_node_only(seed: int) -> None:
    """The interactions that the row declares."""
    random = Random(seed)
    names = ("a", "b")
    label = {"node.koordinator.sh/cpu-bind-policy": random.choice(("", "FullPCPUsOnly", "SpreadByPCPUs"))}
    ratio = {AMPLIFICATION_ANNOTATION: '{"cpu": 1.5}'} if random.random() < 0.3 else {}
    nodes = [replace(make_node(name, cpu="12", labels=label), annotations=ratio) for name in names]
    topologies = topologies_by_node(*(make_topology(n, cpus=cpu_layout(), reserved="0") for n in names))
    found = shadow(make_snapshot(nodes, node_topologies=topologies, kinds=_KINDS))
    scheduler = Scheduler(found, koord_profile(PLUGINS), plugins=PLUGINS)
    pods = [pinned_pod(f"p{n}", str(random.randint(1, 4)), spec=random.choice((None, FULL, SPREAD))) for n in range(5)]
    for pod in pods:
        before = [scheduler.evaluate(each).feasible.copy() for each in pods]
        evaluation = scheduler.evaluate(pod)
        if not evaluation.fits:
            continue
        node = int(random.choice(evaluation.nodes.tolist()))
        scheduler.place(evaluation, node)
        after = [scheduler.evaluate(each).feasible for each in pods]
        for one, other in zip(before, after, strict=True):
            assert not (other & ~one).any()
            assert one[1 - node] == other[1 - node]
