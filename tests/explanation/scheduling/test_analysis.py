from __future__ import annotations

from descheduler.explanation.explaining import settings_for
from descheduler.explanation.scheduling.placement import Deficit, ObstacleCount
from descheduler.explanation.scheduling.waiting import Scheduling
from tests.builders import node_object, pod_object
from tests.explanation.questions import claim, cluster_of, pending_pod, placement_of


def test_every_reason_is_counted_and_how_often_it_stands_alone() -> None:
    nodes = [node_object("a", cpu="1"), node_object("b", cpu="1", taints=["x:NoSchedule"]), node_object("c")]

    placement = placement_of("big", *nodes, pending_pod("big", cpu="2"))

    assert placement.obstacles == (
        ObstacleCount(plugin="NodeResourcesFit", reason="Insufficient cpu", num_nodes=2, num_alone=1),
        ObstacleCount(plugin="TaintToleration", reason="node(s) had untolerated taint(s)", num_nodes=1, num_alone=0),
    )
    assert (placement.num_nodes, placement.num_feasible, placement.summary) == (3, 1, "1/3 nodes are available")


def test_nearest_misses_have_the_fewest_obstacles_and_the_smallest_deficit_first() -> None:
    nodes = [
        node_object("far", cpu="4"),
        node_object("near", cpu="4"),
        node_object("small", cpu="1"),
        node_object("tainted", taints=["x:NoSchedule"]),
        node_object("twice", cpu="1", taints=["x:NoSchedule"]),
    ]
    full = [pod_object("on-far", node="far", cpu="3500m"), pod_object("on-near", node="near", cpu="2500m")]

    placement = placement_of("big", *nodes, *full, pending_pod("big", cpu="2"))

    assert [miss.node for miss in placement.misses] == ["near", "far", "tainted", "small"]
    assert placement.num_misses == 4
    assert placement.misses[0].obstacles[0].deficits == (
        Deficit(resource="cpu", missing=500, requested=2000, free=1500, allocatable=4000),
    )


def test_node_that_the_pod_is_on_is_told_among_those_that_exclude_it() -> None:
    nodes = [node_object("a", unschedulable=True), node_object("b", taints=["x:NoSchedule"])]

    placement = placement_of("old", *nodes, pod_object("old", node="a"))

    assert {miss.node: miss.is_source for miss in placement.misses} == {"a": True, "b": False}


def test_of_each_kind_of_obstacle_only_the_first_few_misses_are_kept() -> None:
    nodes = [node_object(f"n{index:02}", taints=["x:NoSchedule"]) for index in range(20)]

    placement = placement_of("new", *nodes, pending_pod("new"))

    assert [miss.node for miss in placement.misses] == ["n00", "n01", "n02", "n03", "n04"]
    assert placement.num_misses == 20


def test_the_ranking_holds_the_scores_of_every_plugin_and_the_lead_of_the_best() -> None:
    nodes = [node_object("a", cpu="4"), node_object("b", cpu="4"), node_object("c", cpu="4")]
    pods = [pod_object("on-b", node="b", cpu="1"), pod_object("on-c", node="c", cpu="2")]

    placement = placement_of("new", *nodes, *pods, pending_pod("new", cpu="500m"))

    assert [(node.node, node.is_best) for node in placement.ranking] == [("a", True), ("b", False), ("c", False)]
    assert all(sum(node.scores.values()) == node.total for node in placement.ranking)
    assert placement.margin == placement.ranking[0].total - placement.ranking[1].total


def test_a_long_ranking_is_cut_but_keeps_the_node_that_the_pod_leaves() -> None:
    nodes = [node_object(f"n{index:02}") for index in range(30)]
    pods = [pod_object("old", node="n29", cpu="100m"), pod_object("heavy", node="n29", cpu="3")]

    placement = placement_of("old", *nodes, *pods)

    assert len(placement.ranking) == 21
    assert (placement.ranking[-1].node, placement.ranking[-1].is_source) == ("n29", True)


def test_a_gated_pod_is_not_tried_at_all() -> None:
    gated = pending_pod("gated", spec={"schedulingGates": [{"name": "wait"}]})

    placement = placement_of("gated", node_object("a"), gated)

    assert not placement.is_queued
    assert placement.summary == "not queued for scheduling: waiting for scheduling gates: [wait]"
    assert (placement.obstacles, placement.misses) == ((), ())


def test_a_pod_refused_before_nodes_are_looked_at_names_the_plugins() -> None:
    lost = pending_pod("lost", claims=["missing"])

    placement = placement_of("lost", node_object("a"), claim("other"), lost)

    assert placement.summary == '0/1 nodes are available: persistentvolumeclaim "missing" not found'
    assert placement.refusals[0].plugin == "VolumeRestrictions"


def test_a_cluster_without_nodes_says_so() -> None:
    placement = placement_of("new", pending_pod("new"))

    assert placement.summary == "0/0 nodes are available: there are none"


def test_plugins_that_koord_scheduler_runs_beside_are_named() -> None:
    analysis = placement_of("new", node_object("a"), pending_pod("new", scheduler="koord-scheduler"))

    assert analysis.num_feasible == 1
    beside = "koord-scheduler also runs SchedulingHint, which is not fully modelled"
    assert beside in analysis.notes


def deficits(pod: str, node: str, *, used: str = "0") -> list[tuple[str, int, int]]:
    """What the only node is short of: the resource, how much is missing, and how much is free."""
    placement = placement_of(
        "big", node_object("a", cpu=node), pod_object("used", cpu=used), pending_pod("big", cpu=pod)
    )
    return [
        (each.resource, each.missing, each.free)
        for miss in placement.misses
        for obstacle in miss.obstacles
        for each in obstacle.deficits
    ]


def test_deficit_is_what_would_have_to_be_free_besides() -> None:
    assert deficits("2", "4", used="2") == []
    assert deficits("2", "4", used="2001m") == [("cpu", 1, 1999)]
    assert deficits("2", "1", used="1500m") == [("cpu", 2500, -500)]


def test_nodes_that_could_never_hold_the_pod_come_after_those_that_lack_nothing_that_can_be_measured() -> None:
    nodes = [
        node_object("exact", cpu="2"),
        node_object("small", cpu="1999m"),
        node_object("tainted", taints=["x:NoSchedule"]),
    ]

    placement = placement_of("big", *nodes, pod_object("used", node="exact", cpu="1"), pending_pod("big", cpu="2"))

    assert [miss.node for miss in placement.misses] == ["exact", "tainted", "small"]


def test_smallest_share_of_the_request_comes_first_over_all_resources() -> None:
    nodes = [node_object("cpu", cpu="4", memory="4Gi"), node_object("memory", cpu="4", memory="4Gi")]
    used = [
        pod_object("on-cpu", node="cpu", cpu="3", memory="1Gi"),
        pod_object("on-memory", node="memory", cpu="1", memory="3584Mi"),
    ]

    def order(cpu: str, memory: str) -> list[str]:
        placement = placement_of("big", *nodes, *used, pending_pod("big", cpu=cpu, memory=memory))
        return [miss.node for miss in placement.misses]

    assert order("2", "2Gi") == ["cpu", "memory"]
    assert order("4", "768Mi") == ["memory", "cpu"]


def test_node_that_nearly_fits_says_what_is_in_the_way_in_detail() -> None:
    nodes = [node_object("tainted", taints=["x=y:NoSchedule"]), node_object("other", labels={"pool": "web"})]

    placement = placement_of("new", *nodes, pending_pod("new", node_selector={"pool": "gpu"}, tolerations=[]))

    details = {miss.node: miss.obstacles[0].details for miss in placement.misses}
    assert all(details.values())


def test_why_a_pod_does_not_come_to_a_node_is_said_in_a_line() -> None:
    nodes = [node_object("a", cpu="1"), node_object("b", cpu="1", taints=["x:NoSchedule"]), node_object("c")]
    gated = pending_pod("gated", spec={"schedulingGates": [{"name": "wait"}]})
    snapshot = cluster_of(*nodes, pending_pod("big", cpu="2"), gated)
    scheduling = Scheduling.of(snapshot, settings_for(None))
    pods = {pod.name: pod for pod in snapshot.pods}

    assert scheduling.why_not_on(pods["big"], "a").startswith("NodeResourcesFit: ")
    assert [part.partition(":")[0] for part in scheduling.why_not_on(pods["big"], "b").split("; ")] == [
        "TaintToleration",
        "NodeResourcesFit",
    ]
    assert scheduling.why_not_on(pods["big"], "c") == "fits on the node"
    assert scheduling.why_not_on(pods["gated"], "c") == "SchedulingGates: waiting for scheduling gates: [wait]"
    assert scheduling.why_pending(pods["big"]) == "1/3 nodes are available"
