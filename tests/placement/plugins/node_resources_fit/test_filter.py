"""Resources: what a pod asks for, and what is left of a node."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from descheduler.model.kube_version import KubeVersion
from descheduler.model.pod import Pod
from descheduler.placement.framework.obstacle import Code, Obstacle
from descheduler.placement.plugins.node_resources_fit.plugin import NodeResourcesFit
from descheduler.placement.plugins.node_resources_fit.score import NodeResourcesFitArgs
from descheduler.placement.shadow.node_table import CPU_ROW
from descheduler.placement.shadow.shadow_cluster import Cycle, ShadowCluster
from tests.builders import make_node, make_pod
from tests.placement.clusters import make_cluster, make_profile, obstacles

CONTAINERS = [200, 300]
INIT = [("Always", 100), (None, 700), ("Always", 50), (None, 400)]


def _container(milli: int, restart_policy: str | None = None) -> dict[str, Any]:
    resources = {"requests": {"cpu": f"{milli}m"}}
    return {"name": "c", "image": "i", "resources": resources, "restartPolicy": restart_policy}


def _obstacle(code: Code, *reasons: str) -> Obstacle:
    return Obstacle("NodeResourcesFit", code, reasons)


@pytest.mark.parametrize(
    ("containers", "init", "pod_level", "overhead", "expected"),
    [
        pytest.param([100, 200], [(None, 500)], None, None, 500, id="the init sequence may need most"),
        pytest.param(CONTAINERS, INIT, None, None, 800, id="an init container runs beside the sidecars before it"),
        pytest.param(CONTAINERS, INIT, None, "50m", 850, id="overhead comes on top"),
        pytest.param(CONTAINERS, INIT, "600m", "50m", 650, id="a request of the pod replaces all but the overhead"),
        pytest.param(CONTAINERS, [(None, 700), ("Always", 100)], None, None, 700, id="a later sidecar does not count"),
        pytest.param(CONTAINERS, [("Always", 100), (None, 700)], None, None, 800, id="an earlier one does"),
        pytest.param([0.1, 0.1], [], None, None, 1, id="the sum is rounded up, not the parts"),
    ],
)
def test_request_of_a_pod(
    containers: list[float],
    init: list[tuple[str | None, int]],
    pod_level: str | None,
    overhead: str | None,
    expected: int,
) -> None:
    spec = {
        "containers": [
            {"name": "c", "image": "i", "resources": {"requests": {"cpu": f"{round(milli * 1000)}u"}}}
            for milli in containers
        ],
        "initContainers": [_container(milli, policy) for policy, milli in init],
        "resources": pod_level and {"requests": {"cpu": pod_level}},
        "overhead": overhead and {"cpu": overhead},
    }
    cluster = make_cluster([make_node("a")])

    demand = cluster.placement_class(make_pod("new", node="", spec=spec)).demand

    assert demand.amounts == ((CPU_ROW, expected),)


def _overcommitted() -> ShadowCluster:
    """A node with more cpu taken than it has, 6 GiB of memory free and room for one pod more."""
    used = [make_pod("first", cpu="4200m", memory="2Gi"), make_pod("second")]
    return make_cluster([make_node("a", cpu="4", memory="8Gi", pods="3")], used)


@pytest.mark.parametrize(
    ("requests", "expected"),
    [
        pytest.param({"cpu": "0", "memory": "1Gi"}, None, id="zero cpu fits an overcommitted node"),
        pytest.param({"cpu": "1m"}, _obstacle(Code.UNSCHEDULABLE, "Insufficient cpu"), id="any cpu does not"),
        pytest.param(
            {"cpu": "5"},
            _obstacle(Code.UNRESOLVABLE, "Insufficient cpu"),
            id="more than the node has helps no eviction",
        ),
        pytest.param({"memory": "6Gi"}, None, id="exactly what is left fits"),
        pytest.param(
            {"memory": "6442450945"}, _obstacle(Code.UNSCHEDULABLE, "Insufficient memory"), id="a byte more does not"
        ),
        pytest.param(
            {"example.com/dev": "1"},
            _obstacle(Code.UNRESOLVABLE, "Insufficient example.com/dev"),
            id="a resource that the node lacks",
        ),
        pytest.param({"example.com/dev": "0"}, None, id="none of a resource that the node lacks"),
        pytest.param(
            {"ephemeral-storage": "1"}, _obstacle(Code.UNRESOLVABLE, "Insufficient ephemeral-storage"), id="disk"
        ),
        pytest.param(
            {"cpu": "1m", "memory": "7Gi", "example.com/b": "1", "example.com/a": "1"},
            _obstacle(
                Code.UNRESOLVABLE,
                "Insufficient cpu",
                "Insufficient example.com/a",
                "Insufficient example.com/b",
                "Insufficient memory",
            ),
            id="every shortage is named, and one that no eviction mends decides the code",
        ),
    ],
)
def test_pod_fits_what_is_left(requests: dict[str, str], expected: Obstacle | None) -> None:
    against = obstacles(NodeResourcesFit, _overcommitted(), make_pod("new", node="", requests=requests))

    assert against == ({} if expected is None else {"a": expected})


def test_pod_that_asks_for_nothing_still_takes_a_place() -> None:
    cluster = _overcommitted()
    cluster.add(make_pod("third", node=""), 0)

    against = obstacles(NodeResourcesFit, cluster, make_pod("new", node=""))

    assert against == {"a": _obstacle(Code.UNSCHEDULABLE, "Too many pods")}


def test_place_of_a_pod_is_free_again_once_it_is_gone() -> None:
    cluster = make_cluster([make_node("a", cpu="1")], [make_pod("old", cpu="1")])
    cluster.remove(cluster.snapshot.pods[0])

    assert obstacles(NodeResourcesFit, cluster, make_pod("new", node="", cpu="1")) == {}


@pytest.mark.parametrize(
    ("args", "left"),
    [
        pytest.param(NodeResourcesFitArgs(), [], id="nothing is ignored by default"),
        pytest.param(
            NodeResourcesFitArgs(ignored_resources=frozenset({"example.com/dev"})), ["a"], id="a resource is named"
        ),
        pytest.param(
            NodeResourcesFitArgs(ignored_resource_groups=frozenset({"example.com"})), ["a"], id="its group is"
        ),
        pytest.param(
            NodeResourcesFitArgs(ignored_resource_groups=frozenset({"example"})), [], id="a part of the group is"
        ),
    ],
)
def test_profile_may_ignore_extended_resources(args: NodeResourcesFitArgs, left: list[str]) -> None:
    cluster = make_cluster([make_node("a")])
    pod = make_pod("new", node="", requests={"example.com/dev": "1"})

    against = obstacles(NodeResourcesFit, cluster, pod, make_profile(args))

    assert [name for name in ["a"] if name not in against] == left


def test_node_that_is_too_small_as_a_whole_is_not_ruled_out_before_1_34() -> None:
    cluster = make_cluster([make_node("a", cpu="1")], version=KubeVersion.parse("1.33"))

    against = obstacles(NodeResourcesFit, cluster, make_pod("new", node="", cpu="2"))

    assert against == {"a": _obstacle(Code.UNSCHEDULABLE, "Insufficient cpu")}


def test_resources_of_kubernetes_itself_cannot_be_ignored() -> None:
    args = NodeResourcesFitArgs(ignored_resources=frozenset({"hugepages-2Mi", "cpu"}))
    cluster = make_cluster([make_node("a", cpu="1")])
    pod = make_pod("new", node="", cpu="2", requests={"hugepages-2Mi": "2Mi"})

    against = obstacles(NodeResourcesFit, cluster, pod, make_profile(args))

    assert against == {"a": _obstacle(Code.UNRESOLVABLE, "Insufficient cpu", "Insufficient hugepages-2Mi")}


def test_room_that_another_plugin_holds_for_the_pod_counts_as_free() -> None:
    cluster = make_cluster(
        [make_node("a", cpu="1"), make_node("b", cpu="1")], [make_pod(n, node=n, cpu="1") for n in "ab"]
    )
    plugin = NodeResourcesFit(cluster, make_profile())
    cycle = Cycle(cluster.placement_class(make_pod("new", node="", cpu="400m")), cluster)
    cycle.credit[CPU_ROW] = np.array([400, 399], dtype=np.int64)

    bits = plugin.filter(cycle)

    assert bits is not None
    assert plugin.obstacle(cycle, 1, int(bits[1])) == _obstacle(Code.UNSCHEDULABLE, "Insufficient cpu")
    assert bits[0] == 0


@pytest.mark.parametrize(
    "pod",
    [
        pytest.param(make_pod("new", node="", memory="4Ei"), id="a request beyond any machine"),
        pytest.param(make_pod("new", node="", memory="8Ei"), id="a request beyond int64"),
    ],
)
def test_enormous_amounts_do_not_wrap(pod: Pod) -> None:
    cluster = make_cluster([make_node("a", memory="1Gi")], [make_pod("old", memory="4Ei")])

    against = obstacles(NodeResourcesFit, cluster, pod)

    assert against == {"a": _obstacle(Code.UNRESOLVABLE, "Insufficient memory")}
