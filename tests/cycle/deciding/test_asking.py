"""Plugins are asked until all that leaves at once is scheduled again; what cannot leave at once leaves in waves."""

from __future__ import annotations

from typing import Any
from weakref import ReferenceType, ref

import pytest
from msgspec.structs import replace

from descheduler.cycle.deciding import asking
from descheduler.cycle.deciding.decide import decide
from descheduler.cycle.deciding.round import Round, RunSetting
from descheduler.cycle.plugins import REGISTRY
from descheduler.model.groups.workloads import Workload
from descheduler.model.verdict import Reason
from descheduler.plan.decisions import Decisions
from descheduler.plan.facts import PluginFacts
from descheduler.plan.goals import Goal, Level
from descheduler.plan.moves import Move
from descheduler.policy.load import load_policy
from descheduler.policy.plugin import Registry
from tests.builders import NOW, make_node, make_pod, make_snapshot
from tests.cycle.deciding.test_decide import Observer
from tests.eviction.placement_verification.test_in_any_order import by_jobs
from tests.eviction.placement_verification.test_placement_verification import policy_of

GOAL = Goal("Search", (Level("pods left", 1, 1, 0),), 1, None, 0, None, "feasible", 0.0, 0.0, "")
CLOSED = make_node("source", cpu="32", taints=["closed=yes:NoSchedule"])


def run(
    sizes: dict[str, int],
    rooms: tuple[int, ...],
    *,
    jobs: bool,
    this_round: Round | None = None,
    registry: Registry = REGISTRY,
) -> Decisions:
    """A run that clears a node of pods of these sizes, for nodes of those."""
    pods = [make_pod(name, node="source", cpu=str(cpu), labels={"app": name}) for name, cpu in sizes.items()]
    nodes = [CLOSED, *(make_node(f"node-{index}", cpu=str(cpu)) for index, cpu in enumerate(rooms))]
    web = Workload("ReplicaSet", "default", "web", "replicaset-web", len(pods))
    snapshot = make_snapshot(nodes, pods, workloads={web.uid: web})
    policy = load_policy(by_jobs() if jobs else policy_of(), registry)
    setting = RunSetting(registry=registry)
    return decide(policy, snapshot, now=NOW, setting=setting, this_round=this_round or Round())


@pytest.mark.parametrize(
    ("sizes", "rooms", "waves"),
    [
        pytest.param({"a": 1, "b": 1}, (1, 1), {"a": 1, "b": 1}, id="nothing hangs on an order"),
        pytest.param({"a": 3, "b": 1}, (1, 3), {"a": 1, "b": 2}, id="the large one first"),
        pytest.param({"a": 1, "b": 3}, (1, 3), {"b": 1, "a": 2}, id="though it comes last"),
        pytest.param({"a": 5, "b": 3, "c": 1}, (1, 3, 5), {"a": 1, "b": 2, "c": 3}, id="one after the other"),
    ],
)
def test_jobs_are_carried_out_in_waves(sizes: dict[str, int], rooms: tuple[int, ...], waves: dict[str, int]) -> None:
    decisions = run(sizes, rooms, jobs=True)

    assert [(move.pod.name, move.wave) for move in decisions.moves] == list(waves.items())


def test_landing_in_room_that_earlier_waves_leave_says_so() -> None:
    """Each pod has a node once the one before has left it, and not before."""
    nodes = [make_node(name, cpu="4", taints=[f"{name}=yes:NoSchedule"]) for name in "abd"]
    tolerated = {"first": (), "second": ("a",), "third": ("b",)}
    sizes = {"first": ("a", "3"), "second": ("b", "3800m"), "third": ("d", "3900m")}
    pods = [
        make_pod(
            name,
            node=node,
            cpu=cpu,
            labels={"app": name},
            tolerations=[{"key": key, "operator": "Exists"} for key in tolerated[name]],
        )
        for name, (node, cpu) in sizes.items()
    ]
    web = Workload("ReplicaSet", "default", "web", "replicaset-web", len(pods))
    snapshot = make_snapshot([*nodes, make_node("c", cpu="3500m")], pods, workloads={web.uid: web})

    decisions = decide(load_policy(by_jobs(), REGISTRY), snapshot, now=NOW)

    found = [(move.pod.name, move.wave, move.landing.conditions if move.landing else ()) for move in decisions.moves]
    assert found == [
        ("first", 1, ()),
        ("second", 2, ("wave 1 has ended",)),
        ("third", 3, ("waves 1 to 2 have ended",)),
    ]


@pytest.mark.parametrize(
    ("sizes", "rooms", "moved", "reason"),
    [
        pytest.param({"a": 1, "b": 1}, (1, 1), ["a", "b"], None, id="nothing hangs on an order"),
        pytest.param({"a": 3, "b": 1}, (1, 3), ["a"], Reason.ORDER_DEPENDENT, id="the small one may take the node"),
        pytest.param({"a": 1, "b": 3}, (1, 3), ["a"], Reason.NO_LANDING, id="the small one comes first"),
        pytest.param({"a": 1}, (1, 3), ["a"], None, id="a single pod"),
    ],
)
def test_plain_evictions_are_made_that_land_in_every_order(
    sizes: dict[str, int], rooms: tuple[int, ...], moved: list[str], reason: Reason | None
) -> None:
    decisions = run(sizes, rooms, jobs=False)

    assert len(decisions.moves) == len(moved)
    assert {move.wave for move in decisions.moves} == {1}
    assert {each.verdict.reason for each in decisions.refusals} == ({reason} if reason else set())


@pytest.mark.parametrize("jobs", [False, True])
def test_observer_is_told_of_the_last_time_alone(jobs: bool) -> None:
    observer = Observer()

    run({"a": 3, "b": 1}, (1, 3), jobs=jobs, this_round=Round(observer=observer))

    assert len(observer.told) == 1


@pytest.mark.parametrize(
    ("held_on", "waves"),
    [
        pytest.param({}, {"a": 1, "b": 2}, id="no room"),
        pytest.param({"a": "node-1", "b": "node-0"}, {"a": 1, "b": 1}, id="room for both"),
        pytest.param({"a": "node-1"}, {"a": 1, "b": 1}, id="room for the one that another could take it from"),
    ],
)
def test_moves_that_room_is_held_for_keep_the_waves_of_their_plan(
    held_on: dict[str, str], waves: dict[str, int]
) -> None:
    pods = [make_pod(name, node="source", cpu=cpu, labels={"app": name}) for name, cpu in (("a", "3"), ("b", "1"))]
    chosen = [Move(pod, "p", plugin_of(policy_of()), held_on=held_on.get(pod.name, "")) for pod in pods]

    decisions = run({"a": 3, "b": 1}, (1, 3), jobs=True, this_round=Round(chosen=chosen))

    assert {move.pod.name: move.wave for move in decisions.moves} == waves


@pytest.mark.parametrize(
    ("goals", "expected"),
    [
        pytest.param((), [1.0, 0.25, 0.25], id="three times"),
        pytest.param((GOAL,), [1.0, 0.25, 0.25, 0.25], id="once more where it searches for a goal"),
    ],
)
def test_plugin_that_asks_for_other_pods_each_time_keeps_what_was_proven(
    goals: tuple[Goal, ...], expected: list[float]
) -> None:
    """Each small pod may take the node of the large one, which each time stays among those that are asked for.

    Searches have a part of their limits each further time.
    """
    make, shares = REGISTRY["PodLifeTime"].factory, list[float]()

    def counted(args: Any, handle: Any) -> object:
        shares.append(handle.search.share)
        plugin: Any = make(args, handle)
        plugin.facts = lambda: PluginFacts("", 0, 0, goals=goals)
        return plugin

    registry = {**REGISTRY, "PodLifeTime": replace(REGISTRY["PodLifeTime"], factory=counted)}
    pods = [make_pod("a", node="source", cpu="3", labels={"app": "a"})]
    pods += [make_pod(name, node="source", cpu="1", labels={"app": name}) for name in "bcde"]
    nodes = [CLOSED, make_node("node-0", cpu="1"), make_node("node-1", cpu="3")]
    policy = load_policy({**policy_of(), "maxNoOfPodsToEvictPerNode": 2}, registry)

    decisions = decide(policy, make_snapshot(nodes, pods), now=NOW, setting=RunSetting(registry=registry))

    assert [move.pod.name for move in decisions.moves] == ["a"]
    assert {each.verdict.reason for each in decisions.refusals} == {Reason.ORDER_DEPENDENT}
    assert shares == expected


def test_what_was_made_the_time_before_is_gone_when_plugins_are_asked_again() -> None:
    make, made, alive = REGISTRY["PodLifeTime"].factory, list[ReferenceType[object]](), list[bool]()

    def noted(args: Any, handle: Any) -> object:
        alive.extend(each() is not None for each in made)
        made.append(ref(handle.view))
        return make(args, handle)

    registry = {**REGISTRY, "PodLifeTime": replace(REGISTRY["PodLifeTime"], factory=noted)}

    run({"a": 3, "b": 1}, (1, 3), jobs=False, registry=registry)

    assert alive == [False]


def test_plugins_are_asked_six_times_at_most_and_nothing_is_granted_the_last_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    make, built = REGISTRY["PodLifeTime"].factory, list[object]()

    def noted(args: Any, handle: Any) -> object:
        built.append(handle)
        return make(args, handle)

    registry = {**REGISTRY, "PodLifeTime": replace(REGISTRY["PodLifeTime"], factory=noted)}
    monkeypatch.setattr(asking, "largest_part", lambda landings, moves, evicted: frozenset({moves[0].pod}))

    decisions = run(dict.fromkeys("abcdefgh", 1), (1,) * 8, jobs=False, registry=registry)

    assert len(built) == 6
    assert not decisions.moves


def test_what_left_in_an_earlier_round_is_evicted_whatever_the_order() -> None:
    pods = [make_pod(name, node="source", cpu=cpu, labels={"app": name}) for name, cpu in (("a", "3"), ("b", "1"))]
    nodes = [CLOSED, make_node("node-0", cpu="1"), make_node("node-1", cpu="3")]
    policy: Any = policy_of()
    prior = [Move(pod, "p", plugin_of(policy)) for pod in pods]

    decisions = decide(
        load_policy(policy, REGISTRY), make_snapshot(nodes, pods), now=NOW, this_round=Round(prior_moves=prior)
    )

    assert sorted(move.pod.name for move in decisions.moves) == ["a", "b"]


def plugin_of(policy: Any) -> str:
    """The plugin that clears nodes."""
    (name,) = policy["profiles"][0]["plugins"]["deschedule"]["enabled"]
    return str(name)
