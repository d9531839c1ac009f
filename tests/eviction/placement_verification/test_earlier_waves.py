"""In which order a strategy selects makes no difference: what finds no room has it in an earlier wave."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, permutations
from random import Random
from typing import Any

import msgspec
import pytest

from descheduler.cluster.objects import snapshot_from_objects
from descheduler.cluster.snapshot import Snapshot
from descheduler.cycle.deciding.decide import decide
from descheduler.cycle.plugins import REGISTRY
from descheduler.eviction.evictor import Evictor
from descheduler.eviction.placement_verification.earlier_waves import best_order
from descheduler.model.groups.workloads import Workload
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.plan.decisions import Decisions
from descheduler.plan.moves import Move
from descheduler.policy.load import load_policy
from tests.builders import NOW, make_budget, make_node, make_pod, make_snapshot, node_object, owner, pod_object
from tests.eviction.drained_gangs import policy_of as draining_policy
from tests.eviction.placement_verification.test_in_any_order import by_jobs, seven_pods
from tests.placement.batches.brute_force import every_order_lands
from tests.placement.plugins.coscheduling.worlds import group_of, member
from tests.placement.plugins.dynamic_resources.worlds import (
    NO_DEVICE_OBJECTS,
    claim,
    device,
    device_class,
    request,
    slice_of,
)
from tests.placement.workloads import workload_object
from tests.series import Part, parts

CLOSED = make_node("source", cpu="32", taints=["closed=yes:NoSchedule"])


def in_waves(decisions: Decisions) -> dict[int, list[str]]:
    """The pods of each wave, in the order of the plan."""
    return {
        wave: [move.pod.name for move in moves]
        for wave, moves in groupby(decisions.leaving, key=lambda move: move.wave)
    }


def decided(
    nodes: Sequence[Node], pods: Sequence[Pod], policy: dict[str, Any] | None = None, **facts: Any
) -> Decisions:
    """What a run with jobs decides, where all of `pods` could leave."""
    web = Workload("ReplicaSet", "default", "web", "replicaset-web", len(pods))
    snapshot = make_snapshot(nodes, pods, workloads={web.uid: web}, **facts)
    return decide(load_policy(policy or by_jobs(), REGISTRY), snapshot, now=NOW)


def sized(**sizes: int) -> list[Pod]:
    """Pods on the closed node, by name, each with so many CPUs."""
    return [make_pod(name, node="source", cpu=str(cpu), labels={"app": name}) for name, cpu in sizes.items()]


def rooms(*sizes: int) -> list[Node]:
    """The closed node, and one node of each size."""
    return [CLOSED, *(make_node(f"node-{index}", cpu=str(cpu)) for index, cpu in enumerate(sizes))]


@pytest.mark.long
@pytest.mark.parametrize(("small", "medium", "large"), list(permutations("abc")), ids=map("".join, permutations("abc")))
def test_three_sizes_leave_in_every_order_of_their_names(small: str, medium: str, large: str) -> None:
    pods = sized(
        **{f"{small}{index}": 1 for index in range(3)},
        **{f"{medium}{index}": 2 for index in range(2)},
        **{f"{large}{index}": 4 for index in range(2)},
    )

    decisions = decided(rooms(1, 1, 1, 2, 2, 4, 4), pods)

    assert sum(map(len, in_waves(decisions).values())) == len(pods)
    assert decisions.refusals == ()


def test_large_pod_goes_ahead_of_those_that_can_take_its_node_alone() -> None:
    """Two of the small ones keep to another pool, so nothing hangs on when they leave."""
    apart = make_node("apart", cpu="2", labels={"pool": "apart"}, taints=["apart=yes:NoSchedule"])
    tolerated = [{"key": "apart", "operator": "Exists"}]
    kept_apart = [
        make_pod(name, node="source", cpu="1", node_selector={"pool": "apart"}, tolerations=tolerated)
        for name in ("c", "d")
    ]

    decisions = decided([*rooms(1, 3), apart], [*sized(a=1, z=3), *kept_apart])

    assert in_waves(decisions) == {1: ["z"], 2: ["a", "c", "d"]}
    assert [move.to_node for move in decisions.leaving] == ["node-1", "node-0", "apart", "apart"]


def test_pod_that_a_pending_one_may_leave_no_node_goes_ahead_of_those_that_take_the_others() -> None:
    pending = make_pod("pending", node="", cpu="3")

    decisions = decided(rooms(1, 3, 3), [*sized(a=1, z=3), pending])

    assert in_waves(decisions) == {1: ["z"], 2: ["a"]}


def test_pod_that_would_return_goes_ahead_of_those_that_take_its_other_node() -> None:
    policy = by_jobs()
    for config in policy["profiles"][0]["pluginConfig"]:
        if config["name"] == "PlacementVerification":
            config["args"] = {"onReturnToSource": "refuse"}
    nodes = [
        make_node("source", cpu="32", memory="256Gi"),
        make_node("node-0", cpu="3", memory="4Gi"),
        make_node("node-1", cpu="4", memory="16Gi"),
    ]
    pods = [
        make_pod("a", node="source", cpu="2", labels={"app": "a"}),
        make_pod("z", node="source", cpu="3", memory="8Gi", labels={"app": "z"}),
        make_pod("full", node="source", cpu="29", memory="200Gi", owners=["DaemonSet/full"]),
    ]

    decisions = decided(nodes, pods, policy)

    assert [(move.pod.name, move.to_node) for move in decisions.leaving] == [("z", "node-1"), ("a", "node-0")]


def test_pod_without_a_node_of_its_size_stays_and_nothing_changes() -> None:
    decisions = decided(rooms(1, 3), sized(a=1, z=4))

    assert in_waves(decisions) == {1: ["a"]}
    assert [refusal.verdict.code for refusal in decisions.refusals] == ["NoLanding"]


def test_pod_that_was_accepted_does_not_stay_for_a_larger_one() -> None:
    decisions = decided(rooms(3), sized(a=1, b=1, z=3))

    assert in_waves(decisions) == {1: ["a", "b"]}
    assert [refusal.pod.name for refusal in decisions.refusals] == ["z"]


def test_limit_of_the_run_holds_for_the_pods_that_were_accepted_first() -> None:
    decisions = decided(rooms(1, 1, 3), sized(a=1, b=1, z=3), by_jobs() | {"maxNoOfPodsToEvictTotal": 2})

    assert in_waves(decisions) == {1: ["a", "b"]}


def test_pod_for_which_the_limit_is_reached_by_another_one_is_refused_for_the_limit() -> None:
    decisions = decided(rooms(1, 1, 3, 3), sized(a=1, b=1, y=3, z=3), by_jobs() | {"maxNoOfPodsToEvictTotal": 3})

    assert sorted(move.pod.name for move in decisions.leaving) == ["a", "b", "y"]
    assert [(refusal.pod.name, refusal.verdict.code) for refusal in decisions.refusals] == [("z", "LimitReached")]


def test_disruption_budget_counts_pods_of_all_waves() -> None:
    """One of the large ones may leave; the other is refused for the budget, in whatever wave."""
    pods = [
        *sized(a=1, b=1),
        *(make_pod(name, node="source", cpu="3", labels={"app": "large"}) for name in ("y", "z")),
    ]
    budget = make_budget("large", {"app": "large"}, disruptions_allowed=1, current_healthy=2, desired_healthy=1)

    decisions = decided(rooms(1, 1, 3, 3), pods, budgets=[budget])

    assert sorted(move.pod.name for move in decisions.leaving) == ["a", "b", "y"]
    assert [(refusal.pod.name, refusal.verdict.code) for refusal in decisions.refusals] == [("z", "DisruptionBudget")]


def test_pod_with_a_shared_claim_goes_ahead_of_those_that_can_take_its_only_node() -> None:
    """Its claim keeps it off the smaller node, which has room for it; the other pod prefers the larger one."""
    shared = claim("shared", request("r"), devices=["g0"], node="node-1", consumers=["default-z", "default-other"])
    here = {"key": "metadata.name", "operator": "In", "values": ["source"]}
    shared["status"]["allocation"]["nodeSelector"]["nodeSelectorTerms"].append({"matchFields": [here]})
    uses = {"resourceClaims": [{"name": "shared", "resourceClaimName": "shared"}]}
    nodes = [node_object(f"node-{index}", cpu=cpu) for index, cpu in enumerate("23")]
    pods = [
        pod_object("a", node="source", cpu="2", owners=[owner("ReplicaSet/a")]),
        pod_object("z", node="source", cpu="2", owners=[owner("ReplicaSet/z")], spec=uses),
    ]
    closed = node_object("source", cpu="32", taints=["closed=yes:NoSchedule"])
    slices = slice_of("node-1", device("g0"), device("g1"))
    owners = [workload_object(f"ReplicaSet/{pod['metadata']['name']}", template=pod) for pod in pods]
    objects = [closed, *nodes, *pods, shared, slices, device_class(), *owners, *NO_DEVICE_OBJECTS]

    decisions = decide(load_policy(by_jobs(), REGISTRY), snapshot_from_objects(objects), now=NOW)

    assert in_waves(decisions) == {1: ["z"], 2: ["a"]}


def test_gang_that_leaves_whole_goes_ahead_of_single_pods() -> None:
    pods = [
        *(member(name, "", node="source", cpu="1") for name in ("a", "b")),
        *(member(f"m{index}", node="source", cpu="3") for index in range(2)),
    ]
    owners = {pod.owners[0].uid: pod.owners[0].name for pod in pods}
    workloads = {uid: Workload("ReplicaSet", "default", name, uid, 10) for uid, name in owners.items()}
    snapshot = make_snapshot(rooms(1, 1, 3, 3), pods, pod_groups=[group_of("train", 2)], workloads=workloads)

    decisions = decide(load_policy(draining_policy(), REGISTRY), snapshot, now=NOW)

    assert {wave: sorted(names) for wave, names in in_waves(decisions).items()} == {1: ["m0", "m1"], 2: ["a", "b"]}
    assert len({move.bundle for move in decisions.leaving if move.pod.name.startswith("m")}) == 1
    assert decisions.refusals == ()


def test_results_and_refusals_are_counted_as_they_end() -> None:
    nodes, pods = seven_pods("a", "b")

    decisions = decided(nodes, pods)

    assert dict(decisions.results) == {("p", "PodLifeTime", "success"): 7}
    assert decisions.refusals == ()


def test_best_order_puts_what_is_refused_ahead_until_all_are_accepted() -> None:
    """Each of three is accepted if no smaller one came before it."""

    def refused_in(order: Sequence[int]) -> Mapping[int, bool]:
        return {each: True for place, each in enumerate(order) if any(other < each for other in order[:place])}

    assert best_order([2, 3], [1], refused_in) == [3, 2, 1]


def test_best_order_is_what_was_kept_where_something_of_it_is_always_refused() -> None:
    num_asked = 0

    def refused_in(order: Sequence[int]) -> Mapping[int, bool]:
        nonlocal num_asked
        num_asked += 1
        return dict.fromkeys(order[1:], True)

    assert best_order([7, 8, 9], [1, 2], refused_in) == [1, 2]
    assert num_asked == 4


def test_best_order_asks_no_more_for_what_is_refused_for_another_cause() -> None:
    def refused_in(order: Sequence[int]) -> Mapping[int, bool]:
        return {each: False for each in order if each == 7}

    assert best_order([7, 8], [1], refused_in) == [8, 1]


def drained(seed: int) -> Snapshot:
    """A closed node with pods of several sizes, whose names say nothing of these, and nodes for most of them."""
    random = Random(seed)
    sizes = [random.choice((1, 1, 2, 3)) for _ in range(random.randint(2, 5))]
    names = random.sample("abcdefgh", len(sizes))
    pods = sized(**dict(zip(names, sizes, strict=True)))
    targets = [max(1, size + random.choice((-1, 0, 0, 0, 1))) for size in sizes[: random.randint(1, len(sizes))]]
    web = Workload("ReplicaSet", "default", "web", "replicaset-web", len(pods))
    return make_snapshot(rooms(*targets), pods, workloads={web.uid: web})


def settled(snapshot: Snapshot, moves: Sequence[Move]) -> Snapshot:
    """The cluster once these have been carried out, each replacement where it is predicted."""
    gone = {move.pod.uid for move in moves}
    came = [msgspec.structs.replace(move.pod, node_name=move.to_node or "") for move in moves]
    pods = sorted([*(pod for pod in snapshot.pods if pod.uid not in gone), *came], key=lambda pod: pod.name)
    return dataclasses.replace(snapshot, pods=tuple(pods))


def broken_waves(snapshot: Snapshot, decisions: Decisions) -> Iterator[int]:
    """The waves of which a replacement finds no node in some order, or by some breaking of ties."""
    before: list[Move] = []
    for wave, group in groupby(decisions.leaving, key=lambda move: move.wave):
        moves = list(group)
        if not every_order_lands(settled(snapshot, before), [move.pod for move in moves]):
            yield wave
        before += moves


@pytest.mark.long
@pytest.mark.parametrize("part", parts(4))
def test_every_wave_of_random_drains_lands_in_every_order_and_no_pod_stays_that_left_before(
    part: Part, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By brute force over every order and every tie-break of each wave."""
    policy, seeds = load_policy(by_jobs(), REGISTRY), part.of(range(160))
    found = [decide(policy, drained(seed), now=NOW) for seed in seeds]
    monkeypatch.setattr(Evictor, "put_ahead", lambda *_: False)
    before = [decide(policy, drained(seed), now=NOW) for seed in seeds]

    left_before = [{move.pod.name for move in decisions.leaving} for decisions in before]
    leave = [{move.pod.name for move in decisions.leaving} for decisions in found]
    pairs = zip(seeds, left_before, leave, strict=True)
    assert [seed for seed, earlier, now in pairs if not earlier <= now] == []
    assert [seed for seed, now in zip(seeds, found, strict=True) if any(broken_waves(drained(seed), now))] == []
    assert sum(map(len, leave)) > sum(map(len, left_before)) + 2
