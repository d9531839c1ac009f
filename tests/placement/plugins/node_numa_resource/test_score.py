"""The score that NodeNUMAResource gives to pods without CPUs of their own; values as koord-scheduler 1.8 logs them."""

from __future__ import annotations

from descheduler.model.pod import Pod
from descheduler.placement.configuration.kube_scheduler.configuration import load_scheduler_configuration
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.plugins.node_numa_resource.plugin import NodeNUMAResourceArgs
from descheduler.placement.plugins.node_numa_resource.row import NodeNUMAResourceScore
from descheduler.placement.plugins.table import PLUGINS
from tests.builders import make_node, make_pod
from tests.placement.clusters import make_cluster, make_profile, scores

DEV = "example.com/dev"
NODES = [
    make_node("full", cpu="10", memory="10Gi", allocatable={DEV: "10"}),
    make_node("none", cpu="10", memory="10Gi"),
    make_node("taken", cpu="10", memory="10Gi", allocatable={DEV: "10"}),
]
TAKEN = make_pod("old", node="taken", cpu="5", memory="3Gi")


def _scores(pod: Pod, *args: object) -> list[int] | None:
    answer = scores(NodeNUMAResourceScore, make_cluster(NODES, [TAKEN]), pod, profile=make_profile(*args))
    return None if answer is None else answer[1]


def test_empty_nodes_are_preferred() -> None:
    assert _scores(make_pod("new", node="", cpu="1", memory="1Gi")) == [90, 90, 50]


def test_full_nodes_are_preferred_by_most_allocated() -> None:
    most = NodeNUMAResourceArgs("MostAllocated")

    assert _scores(make_pod("new", node="", cpu="1", memory="1Gi"), most) == [10, 10, 50]


def test_what_a_pod_does_not_request_counts_as_nothing() -> None:
    assert _scores(make_pod("new", node="", cpu="1", memory=None)) == [95, 95, 55]


def test_resource_counts_where_there_is_any_for_pods_that_ask() -> None:
    weighted = NodeNUMAResourceArgs(weights={"cpu": 1, DEV: 3})

    assert _scores(make_pod("new", node="", cpu="1", memory=None), weighted) == [90, 90, 40]
    asking = make_pod("new", node="", cpu="1", memory=None, requests={DEV: "5"})
    assert _scores(asking, weighted) == [60, 90, 47]


def test_pod_without_requests_is_not_scored() -> None:
    assert _scores(make_pod("new", node="", cpu=None, memory=None)) is None


def test_strategy_is_read_from_the_arguments() -> None:
    most = {"type": "MostAllocated", "resources": [{"name": "cpu", "weight": 2}]}

    profile = _configured({"scoringStrategy": most})

    assert profile.args.of(NodeNUMAResourceArgs) == NodeNUMAResourceArgs("MostAllocated", {"cpu": 2})
    assert _configured({}).args.of(NodeNUMAResourceArgs) == NodeNUMAResourceArgs()


def _configured(args: dict[str, object]) -> SchedulerProfile:
    document = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"schedulerName": "s", "pluginConfig": [{"name": "NodeNUMAResource", "args": args}]}],
    }
    return load_scheduler_configuration(document, plugins=PLUGINS).profiles[0]
