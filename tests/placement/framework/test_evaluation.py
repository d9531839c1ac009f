"""What filters say of a pod: nodes that are left, reasons of the others, and how PreFilter narrows the search."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

from descheduler.placement.framework.evaluation import Narrowing, PodEvaluation
from descheduler.placement.framework.obstacle import Code, Obstacle
from descheduler.placement.framework.obstacle_counts import ObstacleCounts
from descheduler.placement.framework.scheduler import Scheduler
from descheduler.placement.plugins.table import PLUGINS
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.shadow.shadow_cluster import ShadowCluster
from tests.builders import make_node, make_pod, make_snapshot, required_node_affinity
from tests.placement.default_scheduler import DEFAULT_CONFIGURATION, default_scheduler


def mask(*indices: int, of: int = 3) -> BoolMask:
    """The nodes of these indices."""
    found = np.zeros(of, dtype=bool)
    found[list(indices)] = True
    return found


def test_several_plugins_narrow_the_search_to_what_all_of_them_name() -> None:
    narrowing = Narrowing()

    assert narrowing.add("First", mask(0, 1), None) is None
    assert narrowing.add("Second", mask(1, 2), None) is None

    assert narrowing.nodes is not None
    assert (narrowing.nodes.tolist(), narrowing.plugins) == ([False, True, False], ("First", "Second"))


@pytest.mark.parametrize(
    ("first", "second", "is_left"),
    [
        pytest.param((mask(0), None), (mask(1), None), False, id="no node is left"),
        pytest.param((mask(0), frozenset("a")), (mask(1), frozenset("b")), False, id="no name is left"),
        pytest.param((mask(), frozenset("x")), (mask(0), frozenset("xa")), True, id="the name of no node is left"),
        pytest.param((mask(), frozenset("x")), (mask(0), None), False, id="not all names are known"),
        pytest.param((mask(0), None), (mask(0), frozenset("a")), True, id="a node is left"),
    ],
)
def test_nothing_left_of_what_plugins_name_is_an_obstacle(first: Any, second: Any, is_left: bool) -> None:
    """By their names, where all of them are known: one may be that of a node that does not exist."""
    narrowing = Narrowing()
    narrowing.add("Second", *first)

    obstacle = narrowing.add("First", *second)

    text = "node(s) didn't satisfy plugin(s) [First Second] simultaneously"
    assert obstacle == (None if is_left else Obstacle("First", Code.UNRESOLVABLE, (text,)))


def evaluated(*nodes: Any, pod: Any = None, **facts: Any) -> PodEvaluation:
    """A pod of 1 CPU under kube-scheduler as it comes."""
    cluster = ShadowCluster(make_snapshot(nodes, facts.pop("pods", ())))
    return default_scheduler(cluster).evaluate(pod or make_pod("pod", node="", cpu="1", **facts))


def test_nodes_that_pass_are_listed_and_counted() -> None:
    found = evaluated(make_node("a"), make_node("b", cpu="500m"), make_node("c"))
    nowhere = evaluated(make_node("b", cpu="500m"))

    assert (found.nodes.tolist(), found.num_nodes, found.fits) == ([0, 2], 2, True)
    assert (nowhere.nodes.tolist(), nowhere.num_nodes, nowhere.fits) == ([], 0, False)


def test_all_reasons_of_a_node_are_told_in_running_order() -> None:
    found = evaluated(make_node("a"), make_node("b", cpu="500m", taints=["gpu:NoSchedule"]))

    assert [obstacle.plugin for obstacle in found.obstacles_on(1)] == ["TaintToleration", "NodeResourcesFit"]
    assert found.first_obstacle_on(1) == found.obstacles_on(1)[0]
    assert found.obstacles_on(0) == ()
    with pytest.raises(ValueError, match=r"^node a is feasible$"):
        found.first_obstacle_on(0)


def test_pod_that_is_refused_before_nodes_are_looked_at_has_one_reason_everywhere() -> None:
    gated = evaluated(make_node("a"), make_node("b"), spec={"schedulingGates": [{"name": "wait"}]})

    assert not gated.is_queued
    assert gated.first_obstacle_on(0) == gated.first_obstacle_on(1) == gated.refusals[0]
    assert gated.obstacles_on(0) == ()
    assert gated.open_for_good().tolist() == [False, False]


def test_nodes_of_another_shard_are_closed() -> None:
    found = evaluated(make_node("a"), make_node("b"), make_node("c", cpu="500m"))
    assert found.num_nodes == 2

    found.keep_to(mask(1, 2))

    assert (found.nodes.tolist(), found.num_nodes) == ([1], 1)
    assert found.first_obstacle_on(0) == Obstacle("Shard", Code.UNRESOLVABLE, ("node(s) belonged to other shards",))
    assert found.first_obstacle_on(2).plugin == "NodeResourcesFit"
    assert found.asked().tolist() == [False, True, True]


def test_shard_narrows_further_what_plugins_have_narrowed() -> None:
    """The plugin is named for every node that is left out."""
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a"]}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    found = evaluated(make_node("a"), make_node("b"), affinity={"nodeAffinity": required})

    found.keep_to(mask(1, of=2))

    assert found.nodes.tolist() == []
    assert [found.first_obstacle_on(node).plugin for node in (0, 1)] == ["NodeAffinity", "NodeAffinity"]
    assert found.asked().tolist() == [False, False]


def test_refusal_stays_as_it_is_in_a_shard() -> None:
    gated = evaluated(make_node("a"), spec={"schedulingGates": [{"name": "wait"}]})

    gated.keep_to(mask(of=1))

    assert gated.first_obstacle_on(0) == gated.refusals[0]
    assert gated.narrowing.plugins == ()


def test_node_without_room_may_open_and_one_that_is_cordoned_does_not() -> None:
    found = evaluated(
        make_node("a"),
        make_node("b"),
        make_node("c", labels={"disk": "ssd"}),
        pods=[make_pod("other", node="b", cpu="4")],
        affinity=required_node_affinity("kubernetes.io/hostname", "a", "b"),
    )

    assert found.feasible.tolist() == [True, False, False]
    assert found.open_for_good().tolist() == [True, True, False]


@pytest.mark.parametrize(("number", "is_sampled"), [(100, False), (101, True)])
def test_scheduler_stops_once_it_has_found_a_hundred_nodes(number: int, is_sampled: bool) -> None:
    """That many are found of every cluster that has them; of 101 nodes the share that is looked at is less."""
    assert evaluated(*(make_node(f"n{each}") for each in range(number))).is_sampled is is_sampled


class TestCounts:
    """What closes how many nodes."""

    NODES = (
        make_node("a"),
        make_node("b", cpu="500m"),
        make_node("c", cpu="500m", taints=["gpu:NoSchedule"]),
        make_node("d", unschedulable=True),
    )

    def counts(self, **facts: Any) -> ObstacleCounts:
        return ObstacleCounts(evaluated(*self.NODES, **facts))

    def test_node_counts_for_each_of_its_reasons(self) -> None:
        assert self.counts().by_reason() == {
            "Insufficient cpu": 2,
            "node(s) had untolerated taint(s)": 1,
            "node(s) were unschedulable": 1,
        }

    def test_sentence_has_the_most_frequent_reasons_first(self) -> None:
        assert self.counts().sentence() == (
            "1/4 nodes are available for the replacement pod: 2 insufficient cpu, 1 untolerated taint, 1 unschedulable"
        )

    def test_nodes_are_told_that_others_than_some_plugins_refuse(self) -> None:
        counts = self.counts()

        assert counts.of_others(frozenset()).tolist() == [False, True, True, True]
        assert counts.of_others(frozenset(["NodeResourcesFit"])).tolist() == [False, False, True, True]

    def test_nodes_that_are_left_out_of_the_search_count_too(self) -> None:
        evaluation = evaluated(*self.NODES)
        evaluation.keep_to(mask(0, 1, of=4))

        reasons = ObstacleCounts(evaluation).by_reason()
        assert reasons["node(s) belonged to other shards"] == 2

    def test_refusal_counts_for_all_nodes(self) -> None:
        assert self.counts(spec={"schedulingGates": [{"name": "wait"}]}).by_reason() == {
            "waiting for scheduling gates: [wait]": 4
        }

    def test_more_than_four_reasons_are_cut(self) -> None:
        nodes = [
            make_node("a", cpu="500m", memory="1Gi", pods="0"),
            make_node("b", taints=["gpu:NoSchedule"]),
            make_node("c", unschedulable=True),
        ]
        text = ObstacleCounts(evaluated(*nodes, memory="2Gi")).sentence()

        assert text.endswith(", and others")
        assert text.count(",") == 4


def undecided_counts(*closed: Iterable[int], code: Code = Code.UNDECIDED) -> ObstacleCounts:
    """Of two nodes, where plugins One, Two and so on close these; the last of them with `code`."""

    class Words:
        """Says who closes a node."""

        num_nodes_to_find = 9

        def obstacle(self, plugin: str, cycle: object, node: int, bits: int) -> Obstacle:
            return Obstacle(plugin, code if plugin == names[-1] else Code.UNSCHEDULABLE, (plugin.lower(),))

    names = ["One", "Two", "Three", "Four", "Five"][: len(closed)]
    bits = {name: mask(*each, of=2).astype(np.uint32) for name, each in zip(names, closed, strict=True)}
    feasible = ~np.logical_or.reduce([each > 0 for each in bits.values()])
    cycle = evaluated(make_node("a"), make_node("b")).cycle
    return ObstacleCounts(PodEvaluation(Words(), cycle, bits=bits, feasible=feasible))  # type: ignore[arg-type] # enough


@pytest.mark.parametrize(
    ("closed", "code", "is_undecided", "cause"),
    [
        pytest.param([[0], [1]], Code.UNDECIDED, True, "two (Two)", id="a node that nobody else refuses"),
        pytest.param([[0, 1], [1]], Code.UNDECIDED, False, "two (Two)", id="a node that another one refuses"),
        pytest.param([[0], [1]], Code.UNRESOLVABLE, False, "", id="everything is decided"),
        pytest.param([[1]], Code.UNDECIDED, True, "one (One)", id="beside a node that takes the pod"),
    ],
)
def test_answer_is_undecided_where_a_node_may_take_the_pod_all_the_same(
    closed: list[list[int]], code: Code, is_undecided: bool, cause: str
) -> None:
    counts = undecided_counts(*closed, code=code)

    assert (counts.is_undecided, counts.cause) == (is_undecided, cause)


@pytest.mark.parametrize(("number", "and_others"), [(4, False), (5, True)])
def test_sentence_has_four_reasons_at_most(number: int, and_others: bool) -> None:
    text = undecided_counts(*[[0]] * number).sentence()

    reasons = "1 four, 1 one, 1 three, 1 two" if number == 4 else "1 five, 1 four, 1 one, 1 three, and others"
    assert text == f"1/2 nodes are available for the replacement pod: {reasons}"


def test_scheduler_over_no_nodes_takes_nothing() -> None:
    cluster = ShadowCluster(make_snapshot())
    found = Scheduler(cluster, DEFAULT_CONFIGURATION.profiles[0], plugins=PLUGINS).evaluate(make_pod("pod", node=""))

    assert (found.fits, found.choose()) == (False, None)
    assert ObstacleCounts(found).sentence() == "0/0 nodes are available for the replacement pod"
