"""What one of several shards may evict: its own pods, gangs that are its own, and its share of what a check lets go."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from descheduler.cluster.snapshot import Snapshot
from descheduler.eviction.background import BackgroundEvictions
from descheduler.eviction.checks.budgets import BudgetCheck
from descheduler.eviction.checks.shard import ShardCheck, divided
from descheduler.eviction.request_check import CountingCheck, RequestCheck
from descheduler.model.pod import Pod
from descheduler.model.shard import Shard
from descheduler.model.verdict import Reason
from descheduler.plan.bundles import Bundle, Candidate
from descheduler.plan.moves import Move
from tests.builders import make_budget, make_node, make_pod, make_snapshot
from tests.eviction.checks.test_volcano_rules import profiles

RACKS = ("a", "b", "g", "h")
SHARDS = [Shard(index, 2, "rack") for index in (0, 1)]
NODES = [make_node(rack, labels={"rack": rack}) for rack in RACKS]
OWNED = {node.name: next(shard for shard in SHARDS if shard.owns(node)) for node in NODES}
GANG = {"gang.scheduling.koordinator.sh/name": "train", "gang.scheduling.koordinator.sh/min-available": "1"}
APP = {"app": "web"}


def node_of(shard: Shard) -> str:
    """A node of the shard."""
    return next(name for name, owner in OWNED.items() if owner is shard)


def world(pods: Sequence[Pod], shard: Shard, **facts: Any) -> Snapshot:
    return make_snapshot(NODES, pods, shard=shard, **facts)


def bundle(*pods: Pod) -> Bundle:
    return Bundle("p", "q", tuple(map(Candidate, pods)))


@pytest.mark.parametrize("shard", SHARDS)
def test_pod_belongs_to_the_shard_of_its_node_and_others_to_the_first(shard: Shard) -> None:
    pods = [make_pod(name, node=node) for name, node in (("own", node_of(shard)), ("lost", "gone"), ("free", ""))]
    foreign = make_pod("foreign", node=node_of(SHARDS[1 - shard.index]))
    check = ShardCheck(profiles(), world([*pods, foreign], shard))

    accepted = [check.verdict(bundle(pod)).is_accepted for pod in pods]
    verdict = check.verdict(bundle(foreign))

    assert accepted == [True, shard.index == 0, shard.index == 0]
    assert (verdict.reason, verdict.subject) == (Reason.OTHER_SHARD, foreign.node_name)
    assert verdict.message == f"node {foreign.node_name} belongs to another shard; this run evicts for {shard}"


def test_whole_cluster_has_all_pods() -> None:
    pod = make_pod("web", node="gone")

    assert ShardCheck(profiles(), make_snapshot(NODES, [pod])).verdict(bundle(pod)).is_accepted


def gang_verdicts(nodes: Sequence[str], *, verifies: bool = True) -> list[list[Reason | None]]:
    """What each shard says of the members of a gang on its own nodes."""
    pods = [
        make_pod(f"m{number}", node=node, annotations=GANG, scheduler="koord-scheduler")
        for number, node in enumerate(nodes)
    ]
    found = []
    for shard in SHARDS:
        check = ShardCheck(profiles(verifies=verifies), world(pods, shard))
        own = [pod for pod in pods if pod.node_name and OWNED[pod.node_name] is shard]
        found.append([check.verdict(bundle(pod)).reason for pod in own])
    return found


def test_gang_in_several_shards_is_of_one_of_them() -> None:
    first, second = gang_verdicts([node_of(SHARDS[0]), node_of(SHARDS[1])])

    assert {*first, *second} == {None, Reason.SHARD_SHARE}


@pytest.mark.parametrize("shard", SHARDS)
def test_gang_within_a_shard_is_its_own(shard: Shard) -> None:
    assert gang_verdicts([node_of(shard)] * 2)[shard.index] == [None, None]
    assert gang_verdicts([node_of(shard), ""])[shard.index] == [None]


def test_gangs_do_not_matter_to_profiles_that_verify_nothing() -> None:
    nodes = [node_of(shard) for shard in SHARDS]

    assert gang_verdicts(nodes, verifies=False) == [[None], [None]]


def budget_check(shard: Shard, pods: Sequence[Pod], allowed: int = 3) -> RequestCheck:
    """What a shard has of a budget that allows so many disruptions."""
    snapshot = world(pods, shard, budgets=(make_budget("b", APP, disruptions_allowed=allowed),))
    return divided(BudgetCheck(snapshot, BackgroundEvictions(snapshot)), shard)


PODS = [make_pod(f"p{number}", labels=APP) for number in range(6)]


def granted(check: RequestCheck, pods: Sequence[Pod] = PODS) -> int:
    """How many pods it lets go one by one."""
    number = 0
    for pod in pods:
        if check.verdict(bundle(pod)).is_accepted:
            check.charge(bundle(pod))
            number += 1
    return number


def left(check: RequestCheck) -> list[int]:
    """What is left of the budget, and of the share of it."""
    assert isinstance(check, CountingCheck)
    return [each.left(key) for each in check.allowances(0) if (key := each.key_of(PODS[0])) is not None]


@pytest.mark.parametrize("allowed", [0, 1, 3, 4])
def test_shares_of_a_budget_add_up_to_it(allowed: int) -> None:
    numbers = [granted(budget_check(shard, PODS, allowed)) for shard in SHARDS]

    assert sum(numbers) == allowed
    assert abs(numbers[0] - numbers[1]) <= 1


def test_check_is_undivided_where_there_is_one_shard_or_nothing_to_count() -> None:
    snapshot = make_snapshot(NODES, PODS)
    counting = BudgetCheck(snapshot, BackgroundEvictions(snapshot))
    plain = ShardCheck(profiles(), snapshot)

    assert divided(counting, Shard()) is counting
    assert divided(plain, SHARDS[0]) is plain
    assert divided(counting, SHARDS[0]) is not counting


def test_refusal_says_what_all_shards_have_and_what_this_one_has() -> None:
    check = budget_check(SHARDS[0], PODS, 4)
    assert granted(check) == 2

    verdict = check.verdict(bundle(PODS[5]))

    assert (verdict.reason, verdict.subject) == (Reason.SHARD_SHARE, "PodDisruptionBudget")
    assert verdict.message == "PodDisruptionBudget allows 4 more to all shards, and 2 to shard 0 of 2"


def test_bundle_needs_its_whole_share() -> None:
    check = budget_check(SHARDS[0], PODS, 4)

    assert check.verdict(bundle(*PODS[:2])).is_accepted
    assert check.verdict(bundle(*PODS[:3])).reason is Reason.SHARD_SHARE


def test_share_is_given_back_with_the_grant() -> None:
    check = budget_check(SHARDS[0], PODS, 4)
    before = left(check)

    undo = check.charge(bundle(PODS[0]))
    during = left(check)
    undo()

    assert (before, during, left(check)) == ([4, 2], [3, 1], [4, 2])


def test_pods_of_earlier_rounds_count_against_the_share_of_what_was_there_before() -> None:
    check = budget_check(SHARDS[0], PODS, 6)

    check.adopt([Move(pod, "p", "q") for pod in PODS[4:]])

    assert left(check) == [4, 1]
    assert granted(check, PODS[:4]) == 1


def test_pods_without_the_budget_take_nothing_of_it() -> None:
    other = make_pod("other")
    check = budget_check(SHARDS[0], [*PODS, other], 4)

    check.charge(bundle(other))

    assert left(check) == [4, 2]
