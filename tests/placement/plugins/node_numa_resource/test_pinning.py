"""Which CPUs count as taken, what is told of them, and what a landing beside Reservations hangs on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from descheduler.model.koordinator.node_reports import NODE_TOPOLOGY_KIND, NodeTopology
from descheduler.model.koordinator.reservation import Reservation
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.placement.framework.interactions import GatheredPods, Meetings
from descheduler.placement.framework.matched_reservations import allocations_of
from descheduler.placement.framework.refused_node import RefusedNode
from descheduler.placement.framework.scheduler import Scheduler
from descheduler.placement.framework.scheduling_plugin import shadow_cluster_of
from descheduler.placement.plugins.node_numa_resource.choosing import CpuChoice, choose_cpus
from descheduler.placement.plugins.node_numa_resource.cpu_cache import (
    AMPLIFICATION_ANNOTATION,
    FULL_CORES,
    SPREAD,
    CpuCache,
    CpuMap,
    cpu_map,
)
from descheduler.placement.plugins.node_numa_resource.plugin import NodeNUMAResource, NodeNUMAResourceArgs
from descheduler.placement.plugins.node_numa_resource.pod_on_nodes import PodCpus, cpus_asked, shares_cpus
from descheduler.placement.plugins.node_numa_resource.row import ROW
from descheduler.placement.plugins.table import PLUGINS
from descheduler.placement.schedulers.koord_scheduler import koord_profile
from descheduler.placement.shadow.shadow_cluster import ShadowCluster
from tests.builders import make_node, make_pod, make_snapshot
from tests.placement.clusters import make_profile
from tests.placement.configuration.kube_scheduler.builders import args_with, problems, with_args
from tests.placement.plugins.node_numa_resource.test_plugin import DOMAIN, FULL, make_cpus, pinned_pod
from tests.worlds.node_topologies import cpu_layout, make_topology, topologies_by_node

NUMA = {f"{DOMAIN}/numa-topology-spec": '{"numaTopologyPolicy": "SingleNUMANode"}'}


def world(*pods: Pod, topology: NodeTopology | None = None, nodes: Sequence[Node] = (), **others: Any) -> ShadowCluster:
    """Node a of 8 CPUs, or `nodes`, with the topology of 4 cores on a unless another is given."""
    found = topologies_by_node(topology or make_cpus())
    facts = {"node_topologies": found, "kinds": frozenset({NODE_TOPOLOGY_KIND}), **others}
    return shadow_cluster_of(make_snapshot(nodes or [make_node("a", cpu="8")], pods, **facts), PLUGINS)


def told(pod: Pod, *others: Pod, **facts: Any) -> list[str]:
    """What explains why node a refuses a pod."""
    cluster = world(*others, **facts)
    scheduler = Scheduler(cluster, koord_profile(PLUGINS), plugins=PLUGINS)
    evaluation = scheduler.evaluate(pod)
    (obstacle,) = [each for each in evaluation.obstacles_on(0) if each.plugin == "NodeNUMAResource"]
    assert ROW.explain is not None
    return list(ROW.explain(RefusedNode(evaluation.cycle, scheduler, 0), obstacle))


@pytest.mark.parametrize(
    ("label", "spec", "policy"),
    [
        pytest.param("", FULL, "FullPCPUs", id="the policy of the pod"),
        pytest.param("FullPCPUsOnly", None, "FullPCPUs", id="the policy of the node"),
    ],
)
def test_explanation_says_how_many_cpus_can_be_used(label: str, spec: Mapping[str, str] | None, policy: str) -> None:
    nodes = [make_node("a", cpu="8", labels={"node.koordinator.sh/cpu-bind-policy": label})]

    found = told(pinned_pod("p", "4", spec=spec), pinned_pod("o", "5", cpus="0-4"), nodes=nodes)

    assert found == [f"requests 4 CPUs of its own (CPU bind policy {policy}); 2 of 8 can be used; free: 5-7"]


def test_explanation_names_closed_cpus() -> None:
    topology = make_cpus(reserved="0-1")

    found = told(pinned_pod("p", spec=FULL), pinned_pod("o", "6", cpus="2-7"), topology=topology)

    assert found == [
        "requests 2 CPUs of its own (CPU bind policy FullPCPUs); 0 of 8 can be used; free: none",
        "no pod is pinned to CPUs 0-1, which are reserved or pinned by the kubelet",
    ]


def test_explanation_has_nothing_to_say_of_other_reasons() -> None:
    assert told(pinned_pod("p", "3", spec=FULL)) == []


def reservation(name: str = "r", *, node: str = "a", phase: str = "Available", cpus: str = "0-1") -> Reservation:
    """A Reservation that holds CPUs."""
    noted = {f"{DOMAIN}/resource-status": f'{{"cpuset": "{cpus}"}}'} if cpus else {}
    return Reservation(name, f"uid-{name}", {}, noted, None, phase=phase, node_name=node)


@pytest.mark.parametrize(
    ("held", "pod", "is_conditional"),
    [
        pytest.param(reservation(), pinned_pod("p"), True, id="an active one"),
        pytest.param(reservation(phase="Succeeded"), pinned_pod("p"), False, id="one that is over"),
        pytest.param(reservation(cpus=""), pinned_pod("p"), False, id="one without CPUs"),
        pytest.param(reservation(node="b"), pinned_pod("p"), False, id="one on another node"),
        pytest.param(reservation(node="gone"), pinned_pod("p"), False, id="one on no node"),
        pytest.param(reservation(), make_pod("p", node="", annotations=NUMA, cpu="1"), False, id="a pod that shares"),
    ],
)
def test_landing_beside_a_reservation_that_holds_cpus_is_conditional(
    held: Reservation, pod: Pod, is_conditional: bool
) -> None:
    cluster = world(nodes=[make_node(name, cpu="8") for name in "ab"], reservations=(held,))
    scheduler = Scheduler(cluster, koord_profile(PLUGINS), plugins=PLUGINS)

    found = [each for each in scheduler.conditions(scheduler.evaluate(pod).cycle, 0) if "Reservation" in each]

    said = "the pod must get CPUs on node a beside or out of those of Reservation r"
    assert found == ([said] if is_conditional else [])


def test_reservation_whose_pod_counts_is_no_condition() -> None:
    cluster = world(pinned_pod("holder", cpus="0-1", uid="uid-r"), reservations=(reservation(),))
    scheduler = Scheduler(cluster, koord_profile(PLUGINS), plugins=PLUGINS)

    assert cluster.follow(CpuCache).counts("uid-r")
    assert not cluster.follow(CpuCache).counts("uid-other")
    assert scheduler.conditions(scheduler.evaluate(pinned_pod("p")).cycle, 0) == ()


@pytest.mark.parametrize(
    ("pod", "taken"),
    [
        pytest.param(pinned_pod("o", cpus="0-1"), {0, 1}, id="a bound pod"),
        pytest.param(pinned_pod("o", cpus="0-1", node="gone"), set(), id="a pod of no node"),
        pytest.param(pinned_pod("o", cpus="0-1", node="b"), set(), id="a pod of a node that tells no CPUs"),
        pytest.param(pinned_pod("o"), set(), id="a pod that waits"),
    ],
)
def test_cpus_are_taken_by_pods_that_are_bound(pod: Pod, taken: set[int]) -> None:
    cache = world(pod, nodes=[make_node("b"), make_node("a")]).follow(CpuCache)

    assert {cpu for node in (0, 1) for cpu, _ in cache.held(node)} == taken
    assert cache.free(0) == frozenset(range(8)) - taken
    assert cache.free(1) == frozenset()


def test_pod_of_an_unknown_node_takes_no_cpus_of_the_last_one() -> None:
    cache = world(pinned_pod("o", cpus="0-1", node="gone")).follow(CpuCache)

    assert cache.free(0) == frozenset(range(8))
    assert (cache.counts("default-o"), cache.fingerprint()) == (False, [])


def test_annotation_of_a_pod_without_a_node_says_nothing_of_where_it_is_placed() -> None:
    cluster = world()
    cache = cluster.follow(CpuCache)

    with cluster.what_if():
        cluster.add(pinned_pod("o", cpus="0-1", node=""), 0)
        during = cache.held(0)

    assert during == ()


def test_pinned_cpus_come_back_with_their_pod() -> None:
    pod = pinned_pod("o", cpus="0-1")
    cluster = world(pod)
    cache = cluster.follow(CpuCache)
    before = cache.fingerprint()

    with cluster.what_if():
        cluster.remove(pod)
        during = cache.free(0), cache.counts(pod.uid)

    assert during == (frozenset(range(8)), False)
    assert (cache.fingerprint(), cache.counts(pod.uid)) == (before, True)


@pytest.mark.parametrize(
    ("facts", "is_pinned"),
    [
        pytest.param({}, True, id="LSR"),
        pytest.param({"labels": {"koordinator.sh/qosClass": "LSE"}}, True, id="LSE"),
        pytest.param({"labels": {"koordinator.sh/qosClass": "LS"}}, False, id="LS"),
        pytest.param({"priority": 5500}, False, id="a batch pod"),
        pytest.param({"cpu": "0"}, False, id="no CPU"),
        pytest.param({"cpu": "1m"}, True, id="the least"),
        pytest.param({"spec": {"preferredCPUBindPolicy": "ConstrainedBurst"}}, False, id="another policy"),
    ],
)
def test_pods_of_two_classes_are_pinned_by_two_policies(facts: Any, is_pinned: bool) -> None:
    assert cpus_asked(pinned_pod("p", **facts), FULL_CORES).is_pinned is is_pinned


@pytest.mark.parametrize(
    ("spec", "policy", "required"),
    [
        pytest.param({}, SPREAD, "", id="the default"),
        pytest.param({"preferredCPUBindPolicy": "Default"}, SPREAD, "", id="the default by name"),
        pytest.param({"preferredCPUBindPolicy": "FullPCPUs"}, FULL_CORES, "", id="preferred"),
        pytest.param(FULL, FULL_CORES, FULL_CORES, id="required"),
        pytest.param({"requiredCPUBindPolicy": "Default"}, SPREAD, SPREAD, id="the default, required"),
        pytest.param(
            {**FULL, "preferredCPUBindPolicy": "SpreadByPCPUs"}, FULL_CORES, FULL_CORES, id="required before preferred"
        ),
    ],
)
def test_policy_is_that_of_the_pod_or_the_default(spec: Any, policy: str, required: str) -> None:
    found = cpus_asked(pinned_pod("p", spec=spec), SPREAD)

    assert (found.policy, found.required) == (policy, required)


@pytest.mark.parametrize(
    ("pod", "shares"),
    [
        pytest.param(make_pod("p"), True, id="an ordinary pod"),
        pytest.param(make_pod("p", annotations=NUMA), False, id="one that minds NUMA nodes"),
        pytest.param(pinned_pod("p"), False, id="one that is pinned"),
    ],
)
def test_pod_shares_cpus_unless_it_asks_for_its_own(pod: Pod, shares: bool) -> None:
    assert shares_cpus(pod) is shares


def closing(cluster: ShadowCluster, *pods: Pod) -> Iterator[bool]:
    """Whether each pod may close its node to others because of CPUs."""
    rule: Any = NodeNUMAResource(cluster, make_profile()).interactions
    meetings = Meetings(len(pods), rule.closing(GatheredPods(pods)))
    return (bool(len(meetings.on(place))) for place in range(len(pods)))


def test_pods_that_share_cpus_close_nodes_only_where_a_node_minds() -> None:
    pods = make_pod("p", cpu="1"), pinned_pod("q"), make_pod("r", cpu="1", annotations=NUMA)
    minding = [make_node("a", labels={"node.koordinator.sh/cpu-bind-policy": "FullPCPUsOnly"})]
    amplified = [replace(make_node("a"), annotations={AMPLIFICATION_ANNOTATION: '{"cpu": 2}'})]

    assert list(closing(world(), *pods)) == [False, True, True]
    assert list(closing(world(nodes=minding), *pods)) == [True, True, True]
    assert list(closing(world(nodes=amplified), *pods)) == [True, True, True]


def machine(**layout: int) -> CpuMap:
    """The CPUs of such a machine."""
    found = cpu_map(make_topology("a", cpus=cpu_layout(**layout)).cpus)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("layout", "free", "choice", "expected"),
    [
        pytest.param(
            {"numa_nodes": 2, "cores": 2}, [2, 3, 4, 5, 6, 7], CpuChoice(4, FULL_CORES), [4, 5, 6, 7], id="a NUMA node"
        ),
        pytest.param(
            {"numa_nodes": 2, "cores": 2}, [2, 3, 4, 6], CpuChoice(2, SPREAD), [4, 6], id="cores of one NUMA node"
        ),
        pytest.param(
            {"threads": 4, "cores": 2}, [0, 1, 2, 4], CpuChoice(3, SPREAD), [0, 1, 2], id="no more than a core"
        ),
        pytest.param(
            {"numa_nodes": 2, "cores": 2}, [2, 3, 4, 5, 6, 7], CpuChoice(4, SPREAD), [4, 5, 6, 7], id="all of one"
        ),
        pytest.param({"sockets": 2, "cores": 1}, [0, 1, 2, 3], CpuChoice(2, SPREAD), [0, 1], id="one whole socket"),
        pytest.param({"cores": 2}, [0, 1, 2, 3], CpuChoice(0, FULL_CORES), [], id="none"),
        pytest.param({"cores": 2}, [0, 1, 2, 3], CpuChoice(4, FULL_CORES), [0, 1, 2, 3], id="all"),
    ],
)
def test_cpus_are_taken_close_together(
    layout: dict[str, int], free: list[int], choice: CpuChoice, expected: list[int]
) -> None:
    found = choose_cpus(machine(**layout), frozenset(free), (), choice)

    assert found is not None
    assert sorted(found) == expected


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        pytest.param("{}", NodeNUMAResourceArgs(), id="by default"),
        pytest.param(
            "{numaScoringStrategy: {type: MostAllocated}}", NodeNUMAResourceArgs(fills_numa_nodes=True), id="full nodes"
        ),
        pytest.param("{numaScoringStrategy: {type: LeastAllocated}}", NodeNUMAResourceArgs(), id="empty nodes"),
        pytest.param(
            "{scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 3}]}}",
            NodeNUMAResourceArgs("MostAllocated", {"cpu": 3}),
            id="a strategy",
        ),
        pytest.param(
            "{defaultCPUBindPolicy: SpreadByPCPUs}", NodeNUMAResourceArgs(bind_policy="SpreadByPCPUs"), id="a policy"
        ),
    ],
)
def test_arguments_are_read(args: str, expected: NodeNUMAResourceArgs) -> None:
    assert args_with("NodeNUMAResource", args).of(NodeNUMAResourceArgs) == expected


def test_arguments_are_checked() -> None:
    assert len(problems(with_args("NodeNUMAResource", "{defaultCPUBindPolicy: Full}"))) == 1
    assert len(problems(with_args("NodeNUMAResource", "{scoringStrategy: {type: Most}}"))) == 1


def test_part_of_a_cpu_is_not_whole() -> None:
    asked = [PodCpus(milli, True, "", "", "", "") for milli in (1999, 2000, 2001)]

    assert [(each.number, each.is_whole) for each in asked] == [(1, False), (2, True), (2, False)]


@pytest.mark.parametrize(
    ("label", "pod", "cpus"),
    [
        pytest.param("FullPCPUsOnly", make_pod("p", node="", cpu="2"), "0-1", id="the node's, of a pod that shares"),
        pytest.param(
            "FullPCPUsOnly",
            pinned_pod("p", spec={"preferredCPUBindPolicy": "SpreadByPCPUs"}),
            "0-1",
            id="the node's before what the pod prefers",
        ),
        pytest.param(
            "SpreadByPCPUs",
            pinned_pod("p", spec={"preferredCPUBindPolicy": "FullPCPUs"}),
            "0,2",
            id="the same to spread",
        ),
        pytest.param(
            "", pinned_pod("p", spec={"preferredCPUBindPolicy": "SpreadByPCPUs"}), "0,2", id="the preferred one"
        ),
        pytest.param("", pinned_pod("p", spec=FULL), "0-1", id="the required one"),
    ],
)
def test_cpus_are_taken_by_the_policy_of(label: str, pod: Pod, cpus: str) -> None:
    nodes = [make_node("a", cpu="8", labels={"node.koordinator.sh/cpu-bind-policy": label})]
    scheduler = Scheduler(world(nodes=nodes), koord_profile(PLUGINS), plugins=PLUGINS)

    placed = scheduler.place(scheduler.evaluate(pod), 0)

    assert [each.name for each in allocations_of(placed) if each.plugin == "NodeNUMAResource"] == [cpus]
