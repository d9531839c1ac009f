from __future__ import annotations

from datetime import timedelta

from descheduler.model.koordinator.node_reports import NodeMetric, PodMetric
from descheduler.model.objects import NodeUsage, PodUsage
from descheduler.simulation.status_after import node_metrics_after, server_usage_after
from tests.builders import NOW, make_pod, make_snapshot

OLD, NEW = make_pod("old", node="a"), make_pod("old+", node="b")
USAGE = PodUsage("default", "old", ({"cpu": 3, "memory": 5}, {"cpu": 1, "memory": 0}))
SERVER = make_snapshot(
    pods=[OLD],
    node_usage={"a": NodeUsage("a", {"cpu": 10, "memory": 20}), "b": NodeUsage("b", {"cpu": 1, "memory": 2})},
    pod_usage={("default", "old"): USAGE},
)


def metric(node: str, *pods: PodMetric) -> NodeMetric:
    """A NodeMetric of now."""
    return NodeMetric(node, NOW, {"cpu": 1}, pods, node_usage={"cpu": 9})


def test_usage_goes_to_the_node_of_the_replacement() -> None:
    nodes, pods = server_usage_after(SERVER, [(OLD, NEW)])

    assert {name: usage.usage for name, usage in nodes.items()} == {
        "a": {"cpu": 6, "memory": 15},
        "b": {"cpu": 5, "memory": 7},
    }
    assert pods == {("default", "old+"): PodUsage("default", "old+", USAGE.containers)}


def test_usage_of_a_pod_that_does_not_come_back_is_gone() -> None:
    nodes, pods = server_usage_after(SERVER, [(OLD, None)])

    assert (nodes["a"].usage, nodes["b"].usage, pods) == ({"cpu": 6, "memory": 15}, {"cpu": 1, "memory": 2}, {})


def test_usage_of_a_node_never_falls_below_zero() -> None:
    idle = make_snapshot(pod_usage=SERVER.pod_usage, node_usage={"a": NodeUsage("a", {"cpu": 1, "memory": 9})})

    nodes, _ = server_usage_after(idle, [(OLD, None)])

    assert nodes["a"].usage == {"cpu": 0, "memory": 4}


def test_pod_that_takes_the_name_of_its_predecessor_has_its_usage() -> None:
    again = make_pod("old", node="b")

    _, pods = server_usage_after(SERVER, [(OLD, again)])

    assert pods == {("default", "old"): USAGE}


def test_node_metrics_are_measured_again() -> None:
    old = PodMetric("default", "old", ("cpu",), (3,))
    snapshot = make_snapshot(node_metrics={"a": metric("a", old), "b": metric("b")})

    after = node_metrics_after(snapshot, [(OLD, NEW)], timedelta(minutes=5))

    later = NOW + timedelta(minutes=5)
    assert after == {
        "a": NodeMetric("a", later, {"cpu": 1}, (), node_usage={"cpu": 6}),
        "b": NodeMetric(
            "b", later, {"cpu": 1}, (PodMetric("default", "old+", ("cpu",), (3,)),), node_usage={"cpu": 12}
        ),
    }


def test_node_that_was_never_measured_is_not_measured_later() -> None:
    snapshot = make_snapshot(node_metrics={"a": NodeMetric("a", None, None, ())})

    assert node_metrics_after(snapshot, [], timedelta(minutes=5)) == snapshot.node_metrics
