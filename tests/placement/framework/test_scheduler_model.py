"""What any scheduler is asked: the order of pods, tries of several together, and what nodes would take."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from descheduler.model.pod import Pod
from descheduler.placement.configuration.kube_scheduler.plugin_args import PluginArgs
from descheduler.placement.framework.evaluation import Choice, PodEvaluation
from descheduler.placement.framework.obstacle import Code, Obstacle, Said, Shortage, cause_of
from descheduler.placement.framework.scheduler import Scheduler
from descheduler.placement.framework.scheduler_model import DoubtOf, SchedulerModel, Unit, queue_order
from descheduler.placement.framework.scheduling_plugin import (
    Compares,
    Preference,
    SchedulingPlugin,
    annotations_read_by,
    check_annotations,
    kinds_read_by,
    parts_of,
    renewal_by,
)
from descheduler.placement.plugins.node_resources_fit.score import NodeResourcesFitArgs
from descheduler.placement.plugins.table import PLUGINS
from descheduler.placement.shadow.shadow_cluster import Company, Cycle, ShadowCluster
from tests.builders import make_node, make_pod, make_snapshot
from tests.placement.clusters import HOSTNAME, ZONE
from tests.placement.default_scheduler import DEFAULT_CONFIGURATION, default_scheduler

PROFILE = DEFAULT_CONFIGURATION.profiles[0]


def over(*nodes: Any, pods: Any = (), profile: Any = PROFILE) -> Scheduler:
    """kube-scheduler over these nodes and pods."""
    return Scheduler(ShadowCluster(make_snapshot(nodes, pods)), profile, plugins=PLUGINS)


def waiting(name: str, **facts: Any) -> Pod:
    return make_pod(name, node="", **facts)


def test_queue_is_sorted_by_priority_then_age_then_name() -> None:
    pods = [
        waiting("young", age=5),
        waiting("low", priority=-1, age=50),
        waiting("high", priority=1, age=None),
        waiting("b", age=9),
        waiting("a", age=9),
        waiting("ageless", age=None),
    ]

    found = [pod.name for pod in sorted(pods, key=queue_order)]

    assert found == ["high", "a", "b", "young", "ageless", "low"]


def test_units_are_tried_by_the_priority_of_their_first_pod() -> None:
    """Of one priority they stay in the order given."""
    one, two, three = (Unit((waiting(name, priority=p),)) for name, p in (("one", None), ("two", 1), ("three", 0)))
    scheduler = over(make_node("a"))

    assert list(scheduler.order([one, two, three])) == [two, one, three]
    assert scheduler.next_of([one, three]) is one


def test_pods_of_a_unit_are_placed_until_nothing_keeps_them_back() -> None:
    """Under kube-scheduler no pod waits for another, so the first that fits is all."""
    scheduler = over(make_node("a", cpu="2"))
    unit = Unit((waiting("large", cpu="3"), waiting("fits", cpu="1"), waiting("later", cpu="1")))

    found = scheduler.try_place(unit)

    assert [attempt.placement is not None for attempt in found.attempts] == [False, True]
    assert found.is_bound
    assert scheduler.cluster.table.requested[0].tolist() == [1000]
    assert not scheduler.try_place(Unit((waiting("large", cpu="3"),))).is_bound


def test_nodes_outside_of_the_shard_are_closed_to_a_pod() -> None:
    scheduler = over(make_node("a"), make_node("b"))
    pod = waiting("pod")

    assert scheduler.evaluate_binding(pod).feasible.tolist() == [True, True]
    within = scheduler.evaluate_binding(pod, within=np.array([False, True]))
    assert within.feasible.tolist() == [False, True]


PORT = {"containers": [{"name": "main", "ports": [{"hostPort": 80, "containerPort": 80}]}]}
NODES = (make_node("a"), make_node("b", cpu="1"), make_node("c"), make_node("d", unschedulable=True))


@pytest.mark.parametrize(
    ("pod", "compared", "expected"),
    [
        pytest.param(waiting("pod", cpu="2"), [], [True, False, True, False], id="as it is"),
        pytest.param(
            waiting("pod", cpu="2"), [Compares.REQUESTS], [True, True, True, False], id="whatever it requests"
        ),
        pytest.param(waiting("pod", spec=PORT), [Compares.REQUESTS], [True, True, False, False], id="ports are taken"),
        pytest.param(waiting("pod", spec=PORT), list(Compares), [True, True, False, False], id="whatever is compared"),
        pytest.param(
            waiting("pod", cpu="2", node_selector={HOSTNAME: "b"}),
            [Compares.REQUESTS],
            [False, True, False, False],
            id="on the nodes that it names",
        ),
    ],
)
def test_nodes_that_would_take_a_pod_had_they_enough(pod: Pod, compared: list[Compares], expected: list[bool]) -> None:
    scheduler = over(*NODES, pods=[make_pod("other", node="c", spec=PORT)])

    found = scheduler.open_but_for(scheduler.evaluate(pod), frozenset(compared))

    assert found is not None
    assert found.tolist() == expected


def test_no_room_helps_a_pod_that_is_refused_before_nodes_are_looked_at() -> None:
    scheduler = over(*NODES)
    gated = waiting("pod", spec={"schedulingGates": [{"name": "wait"}]})

    assert scheduler.open_but_for(scheduler.evaluate(gated), frozenset(Compares)) is None


def test_scheduler_compares_what_its_filters_do() -> None:
    without_fit = replace(PROFILE, filters=tuple(name for name in PROFILE.filters if name != "NodeResourcesFit"))

    assert [over(NODES[0]).compares(each) for each in (Compares.REQUESTS, Compares.SPREAD)] == [True, True]
    assert not over(NODES[0], profile=without_fit).compares(Compares.REQUESTS)


def test_scheduler_runs_what_its_profile_enables() -> None:
    scheduler = over(NODES[0])

    assert scheduler.runs("NodeResourcesFit")
    assert scheduler.runs("NodeResourcesFit", "filters")
    assert not scheduler.runs("NodeResourcesFit", "permits")
    assert not scheduler.runs("Unheard")


@pytest.mark.parametrize(
    ("strategy", "prefers_empty_nodes", "packing_weights"),
    [("LeastAllocated", True, {}), ("MostAllocated", False, {"cpu": 1, "memory": 1})],
)
def test_scheduler_prefers_nodes_by_what_is_free_there(
    strategy: Any, prefers_empty_nodes: bool, packing_weights: dict[str, int]
) -> None:
    profile = replace(PROFILE, args=PluginArgs.made_of(NodeResourcesFitArgs(strategy=strategy)))

    found = over(NODES[0], profile=profile).preference()

    assert (found.prefers_empty_nodes, found.packing_weights) == (prefers_empty_nodes, packing_weights)


def test_preferences_of_several_plugins_are_joined() -> None:
    packing = Preference(packing_weights={"cpu": 1})
    empty, idle = Preference(prefers_empty_nodes=True), Preference(prefers_idle_parts=True)

    assert empty | idle == idle | empty == Preference(prefers_empty_nodes=True, prefers_idle_parts=True)
    assert packing | idle == idle | packing == Preference(prefers_idle_parts=True, packing_weights={"cpu": 1})
    assert Preference() | Preference() == Preference()


def test_spread_constraints_are_those_that_refuse_nodes() -> None:
    def constraint(when: str) -> dict[str, Any]:
        selector = {"matchLabels": {"app": "a"}}
        return {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": when, "labelSelector": selector}

    hard, soft = (
        waiting("pod", labels={"app": "a"}, spread=[constraint(w)]) for w in ("DoNotSchedule", "ScheduleAnyway")
    )
    scheduler = over(make_node("a", labels={ZONE: "x"}))

    assert [len(scheduler.spread(pod)) for pod in (hard, soft, waiting("pod"))] == [1, 0, 0]


@pytest.mark.parametrize(("policy", "preempts"), [(None, True), ("PreemptLowerPriority", True), ("Never", False)])
def test_scheduler_preempts_for_pods_that_allow_it(policy: str | None, preempts: bool) -> None:
    pod = waiting("pod", spec={} if policy is None else {"preemptionPolicy": policy})
    without = replace(PROFILE, post_filters=())

    assert over(NODES[0]).preempts(pod) is preempts
    assert not over(NODES[0], profile=without).preempts(pod)


def test_nodes_are_open_to_a_pod_that_others_may_help() -> None:
    """A pod that follows another one may go anywhere that nothing else closes; any other one where it fits."""
    term = {"labelSelector": {"matchLabels": {"app": "x"}}, "topologyKey": HOSTNAME}
    follower = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    scheduler = over(*NODES)
    plain = scheduler.evaluate(waiting("plain", cpu="2"))
    helped = scheduler.evaluate(waiting("helped", cpu="2", affinity=follower))

    assert scheduler.openable(plain).tolist() == [True, False, True, False]
    assert helped.feasible.tolist() == [False] * 4
    assert scheduler.openable(helped).tolist() == [True, False, True, False]


def row(**facts: Any) -> SchedulingPlugin:
    return SchedulingPlugin(points=frozenset({"filter"}), **facts)


def test_rows_say_what_is_read_of_pods_and_of_the_cluster() -> None:
    rows = [row(reads_annotations=("a", "b"), reads_kinds=frozenset({"X"})), row(reads_annotations=("b", "c"))]

    assert annotations_read_by(rows) == {"a", "b", "c"}
    assert kinds_read_by(rows) == {"X"}


def test_cluster_has_to_tell_pods_apart_by_what_plugins_read() -> None:
    rows = {"Mine": row(reads_annotations=("a",))}

    with pytest.raises(ValueError, match=r"^the shadow cluster does not tell pods apart by a$"):
        check_annotations(ShadowCluster(make_snapshot()), rows)
    check_annotations(ShadowCluster(make_snapshot(), reads_annotations=frozenset({"a"})), rows)


class _Parts:
    def __init__(self, name: str, *, is_listed: bool) -> None:
        self.name, self.is_listed = name, is_listed


@pytest.mark.parametrize(
    ("listed", "name"),
    [
        pytest.param([], "", id="no plugin hands out parts"),
        pytest.param([False, False], "p1", id="the last one where none is listed"),
        pytest.param([True, False], "p0", id="the first one that is listed"),
        pytest.param([False, True, True], "p1", id="not a later one"),
    ],
)
def test_parts_are_those_of_the_first_plugin_whose_objects_list_any(listed: list[bool], name: str) -> None:
    made: Any = [_Parts(f"p{number}", is_listed=each) for number, each in enumerate(listed)]
    rows = [row(), *(row(parts=lambda cluster, each=each: each) for each in made)]

    found = parts_of(rows, ShadowCluster(make_snapshot()))

    assert getattr(found, "name", "") == name


def test_pod_that_is_created_anew_loses_what_each_plugin_takes_off() -> None:
    def without(key: str) -> Any:
        return lambda pod: replace(pod, labels={name: value for name, value in pod.labels.items() if name != key})

    renew = renewal_by([row(renews=without("a")), row(), row(renews=without("b"))])

    assert renew(make_pod("pod", labels={"a": "1", "b": "2", "c": "3"})).labels == {"c": "3"}


def test_shortage_is_told_in_words_of_events_and_of_sentences() -> None:
    cpu, pods = Shortage("cpu", 5, 4, 8), Shortage("pods", 1, 0, 110)

    assert [(each.reason, each.short) for each in (cpu, pods)] == [
        ("Insufficient cpu", "insufficient cpu"),
        ("Too many pods", "too many pods"),
    ]


@pytest.mark.parametrize(
    ("code", "is_brief", "is_open"),
    [(Code.UNDECIDED, False, True), (Code.UNSCHEDULABLE, True, True), (Code.UNSCHEDULABLE, False, False)],
)
def test_obstacle_is_open_where_it_is_not_decided_or_does_not_last(code: Code, is_brief: bool, is_open: bool) -> None:
    assert Obstacle.of("Mine", code, Said.alike("no"), is_brief=is_brief).is_open is is_open


def test_cause_names_all_plugins_that_say_the_same_first() -> None:
    def obstacle(plugin: str, *words: str) -> Obstacle:
        return Obstacle.of(plugin, Code.UNDECIDED, *map(Said.alike, words))

    found = [obstacle("A", "x", "y"), obstacle("B", "z"), obstacle("C", "x", "y"), obstacle("A", "x", "y")]

    assert cause_of(found) == "x, y (A, C)"
    assert Obstacle("D", Code.UNDECIDED, ("said",)).short == ("said",)


class Minimal(SchedulerModel):
    """A scheduler of another kind, which says no more than it has to."""

    name = "minimal"

    def __init__(self, feasible: Any, *, refused: bool = False, unsure: bool = False) -> None:
        self.cluster = ShadowCluster(make_snapshot([make_node(name) for name in "ab"]))
        self._feasible = np.array(feasible, dtype=bool)
        obstacle = (Obstacle("Mine", Code.UNDECIDED, ("no",)),)
        self._refusals, self._undecided = obstacle * refused, obstacle * unsure

    def doubt(self, pod: Pod, about: DoubtOf = DoubtOf.LANDING) -> str:
        return ""

    def obstacle(self, plugin: str, cycle: Cycle, node: int, bits: int) -> Obstacle:
        return Obstacle(plugin, Code.UNSCHEDULABLE, ("no",))

    def choose(self, evaluation: PodEvaluation) -> Choice | None:
        return None

    def evaluate(self, pod: Pod, company: Company | None = None) -> PodEvaluation:
        cycle = Cycle(self.cluster.placement_class(pod), self.cluster)
        facts: Any = {"refusals": self._refusals, "undecided": self._undecided}
        return PodEvaluation(self, cycle, bits={}, feasible=self._feasible, **facts)


@pytest.mark.parametrize(
    ("facts", "expected"),
    [({}, [True, False]), ({"refused": True}, None), ({"unsure": True}, None)],
    ids=["certain", "refused", "not certain"],
)
def test_scheduler_that_says_nothing_of_room_has_the_nodes_open_that_fit(
    facts: Any, expected: list[bool] | None
) -> None:
    scheduler = Minimal([True, False], **facts)

    found = scheduler.open_but_for(scheduler.evaluate(waiting("pod")), frozenset(Compares))

    assert (None if found is None else found.tolist()) == expected


def test_scheduler_that_says_nothing_else_is_cautious() -> None:
    """Anything may happen to its pods, and it has no preference, no units and evicts nobody."""
    scheduler, pod = Minimal([True, False]), waiting("pod")
    evaluation = scheduler.evaluate(pod)

    assert scheduler.openable(evaluation).tolist() == [True, True]
    assert (scheduler.can_be_helped(pod), scheduler.is_local(pod), scheduler.is_felt_widely(pod)) == (True, False, True)
    assert scheduler.hinders_while_ending(pod, pod)
    assert scheduler.interact(pod, pod)
    assert scheduler.preference() == Preference()
    assert (scheduler.unit_of(pod), scheduler.held_back([pod]), scheduler.leaves_open(pod)) == ("", (), False)
    assert (scheduler.preempts(pod), scheduler.evicted_for(evaluation), scheduler.num_changes_seen()) == (
        False,
        None,
        None,
    )
    assert scheduler.scores(evaluation).totals.tolist() == [0]
    assert evaluation.open_for_good().tolist() == [True, True]


def test_default_scheduler_knows_how_often_what_pods_see_has_changed() -> None:
    """No plugin of kube-scheduler changes what others see."""
    assert default_scheduler(ShadowCluster(make_snapshot([make_node("a")]))).num_changes_seen() == 0
