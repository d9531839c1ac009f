"""Risks that a plan names, and commands that do what they say."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from descheduler.model.shard import Shard
from descheduler.report.document import ShardIdentity
from descheduler.report.pictures.review import Wave, review_of
from descheduler.report.plan.document import Plan
from descheduler.report.plan.wave_times import PlannedWave
from descheduler.report.plan.workloads import PlannedWorkload, WaveShare, WorkloadBudget
from descheduler.report.tables.summary import time_text
from tests.builders import NOW, make_budget, make_pod
from tests.report.decided_cycles import make_test_plan, pod_life_time_policy
from tests.report.pictures.builders import goal, objective

PLANS = {each: make_test_plan([make_pod(f"old-{number}") for number in range(each)]) for each in (1, 2, 3)}
"""By the number of their moves."""
IDLE = make_test_plan([make_pod("young", age=1)])


def moved(number: int = 1, **change: Any) -> Plan:
    """A plan with so many moves, all of which have the facts of `change`."""
    plan = PLANS[number]
    return replace(plan, moves=tuple(replace(move, **change) for move in plan.moves))


def workload(
    name: str, *, replicas: int = 3, waves: tuple[tuple[int, int], ...] = (), **budgets: int
) -> PlannedWorkload:
    """A workload that loses pods: so many in each of the waves."""
    return PlannedWorkload(
        kind="ReplicaSet",
        namespace="default",
        name=name,
        replicas=replicas,
        moved=1,
        pods=(),
        waves=tuple(WaveShare(wave=wave, pods=pods) for wave, pods in waves),
        budgets=tuple(WorkloadBudget(name=budget, allowed=allowed) for budget, allowed in budgets.items()),
    )


def risks(*workloads: PlannedWorkload) -> list[str]:
    """Those of a plan in which these workloads lose pods, and nothing else is at risk."""
    return list(review_of(replace(IDLE, workloads=workloads)).risks)


def test_budget_is_spent_by_all_workloads_that_it_covers() -> None:
    pods = [make_pod(f"{app}-1", owners=[f"ReplicaSet/{app}"], labels={"tier": "web"}) for app in "ab"]
    budget = make_budget("both", {"tier": "web"}, disruptions_allowed=2, has_status=True)

    risks = review_of(make_test_plan(pods, budgets=(budget,))).risks

    assert "1 budget with 0 disruptions left in some wave: default/both" in risks


def test_budget_that_allows_more_than_a_wave_takes_is_no_risk() -> None:
    budget = make_budget("web", {"tier": "web"}, disruptions_allowed=2, has_status=True)

    risks = review_of(make_test_plan([make_pod("p", labels={"tier": "web"})], budgets=(budget,))).risks

    assert not [risk for risk in risks if "disruptions left" in risk]


def test_single_replicas_alone_are_named_as_such() -> None:
    single = make_pod("one-1", owners=["ReplicaSet/one"])
    pair = [make_pod(f"two-{i}", owners=["ReplicaSet/two"]) for i in range(2)]

    risks = review_of(make_test_plan([single, *pair])).risks

    assert "1 workload with a single replica: default/one" in risks


@pytest.mark.parametrize(
    ("source", "flags"),
    [
        pytest.param("dump.json", " --snapshot dump.json", id="a file"),
        pytest.param("my dump.json", " --snapshot 'my dump.json'", id="a name with a space"),
        pytest.param("standard input", " --snapshot -", id="standard input"),
        pytest.param("https://10.0.0.1:6443", "", id="a cluster"),
    ],
)
def test_plan_is_made_again_of_the_same_source(source: str, flags: str) -> None:
    commands = review_of(make_test_plan([make_pod("old")], source=source, taken_at=NOW)).commands

    assert commands["Plan again"] == f"descheduler plan --policy-config-file policy.yaml{flags} --out plan.json"


def test_plan_says_until_when_it_can_be_applied() -> None:
    of_noon = datetime(2026, 1, 15, 12, tzinfo=UTC)

    assert review_of(make_test_plan(taken_at=of_noon)).identity["Expires"] == (
        "2026-01-15 12:15:00 UTC; apply --max-age takes older plans"
    )
    assert review_of(make_test_plan(taken_at=None)).identity["Expires"] == ""
    assert review_of(make_test_plan(taken_at=datetime.max.replace(tzinfo=UTC))).identity["Expires"] == ""


def test_plan_of_a_shard_names_the_shard_and_its_flags() -> None:
    shard = Shard(1, 4, label="example.com/rack", turn="night 17")

    review = review_of(make_test_plan([make_pod("old")], source="https://10.0.0.1:6443", shard=shard))

    assert review.identity["Shard"].startswith("shard 1 of 4 by label example.com/rack: ")
    flags = " --shards 4 --shard-index 1 --shard-by example.com/rack --shard-turn 'night 17'"
    again = f"descheduler plan --policy-config-file policy.yaml{flags} --out plan.json"
    assert review.commands["Plan again"] == again


def test_plan_of_a_dump_at_another_time_names_the_time() -> None:
    commands = review_of(make_test_plan([make_pod("old")], taken_at=NOW - timedelta(hours=1))).commands

    assert "--snapshot dump.json --now 2026-06-30T12:00:00Z" in commands["Explain a pod"]


def test_plan_of_several_dumps_names_no_command() -> None:
    assert review_of(make_test_plan([make_pod("old")], source="a.json, b.json")).commands == {}


def test_size_of_the_cluster_tells_the_pods_that_the_figures_count() -> None:
    pods = [make_pod("old"), make_pod("done", phase="Succeeded")]

    assert review_of(make_test_plan(pods)).identity["Cluster"].endswith("2 pods, 1 of them on nodes and not finished")
    assert review_of(make_test_plan(pods[:1])).identity["Cluster"].endswith(", 1 pod")


@pytest.mark.parametrize(
    ("found", "risk"),
    [
        pytest.param(workload("a", replicas=1, b=9), "1 workload with a single replica: default/a", id="single"),
        pytest.param(
            workload("a", replicas=2, waves=((1, 2),), b=9), "1 workload with all replicas down at once: default/a",
            id="all at once",
        ),
        pytest.param(workload("a", waves=((1, 1),)), "1 workload without a PodDisruptionBudget: default/a", id="bare"),
        pytest.param(
            workload("a", waves=((1, 2),), b=2), "1 budget with 0 disruptions left in some wave: default/b", id="spent"
        ),
        pytest.param(
            workload("a", waves=((1, 1),), b=0), "1 budget with 0 disruptions left in some wave: default/b", id="empty"
        ),
    ],
)  # fmt: skip
def test_workload_is_told_as_a_risk(found: PlannedWorkload, risk: str) -> None:
    assert risks(found) == [risk]


@pytest.mark.parametrize(
    "found",
    [
        pytest.param(workload("a", replicas=2, waves=((1, 1), (2, 1)), b=2), id="one replica after the other"),
        pytest.param(workload("a", waves=((1, 1),), b=2), id="a budget with more"),
        pytest.param(workload("a", waves=((1, 1), (2, 1)), b=2), id="a budget that each wave leaves something of"),
    ],
)
def test_workload_that_loses_little_is_no_risk(found: PlannedWorkload) -> None:
    assert risks(found) == []


def test_a_single_replica_is_not_told_as_all_replicas_too() -> None:
    assert risks(workload("a", replicas=1, waves=((1, 1),), b=9)) == ["1 workload with a single replica: default/a"]


def test_first_workloads_of_a_risk_are_named() -> None:
    many = [workload(f"w{number}", replicas=1, b=9) for number in range(7)]

    assert risks(*many) == [
        "7 workloads with a single replica: default/w0, default/w1, default/w2, default/w3, default/w4 and 2 more"
    ]


@pytest.mark.parametrize(
    ("verdict", "said"),
    [
        ("lands_if", "that can be scheduled under a condition alone"),
        ("likely", "that will likely be scheduled, which is not proven"),
        ("unknown", "of which it is unknown whether it can be scheduled"),
        ("no", "that would stay pending"),
    ],
)
def test_replacements_that_are_not_certain_are_counted_as_risks(verdict: str, said: str) -> None:
    plan = moved(2)
    landing = plan.moves[0].landing
    assert landing is not None
    uncertain = tuple(replace(move, landing=replace(landing, verdict=verdict)) for move in plan.moves)

    assert f"2 replacements {said}" in review_of(replace(plan, moves=uncertain)).risks
    assert not [risk for risk in review_of(plan).risks if "replacement" in risk]
    assert "2 replacements whose landing was not looked up" in review_of(moved(2, landing=None)).risks


def test_least_budget_of_a_workload_is_shown() -> None:
    found = [workload("a", b=3, c=1200), workload("d")]

    shown = review_of(replace(IDLE, workloads=tuple(found))).workloads

    assert [(each.budget, each.most_down) for each in shown] == [("3 (b)", 0), ("no budget", 0)]


def test_waves_have_their_time_and_the_workloads_that_lose_most_first() -> None:
    plan = moved(3)
    moves = tuple(replace(move, wave=wave) for move, wave in zip(plan.moves, (1, 2, 2), strict=True))
    workloads = (workload("a", waves=((1, 1), (2, 1))), workload("b", waves=((2, 4),)))
    waves = (PlannedWave(wave=2, pods=2, pace_seconds=0.0, grace_seconds=90, seconds=90.2),)
    plan = replace(plan, moves=moves, waves=waves)
    without_pods = review_of(replace(plan, workloads=workloads, waves=waves))

    assert without_pods.waves == (
        Wave(1, 1, "", [("ReplicaSet default/a", 1)]),
        Wave(2, 2, "1m31s", [("ReplicaSet default/b", 4), ("ReplicaSet default/a", 1)]),
    )


@pytest.mark.parametrize(("keeps_waves", "said"), [(True, "1m13s"), (False, "1m3s")])
def test_waves_take_their_time_one_after_the_other_where_they_are_kept(keeps_waves: bool, said: str) -> None:
    """Else the pace goes on, and the longest grace period counts."""
    waves = tuple(
        PlannedWave(wave=wave, pods=1, pace_seconds=pace, grace_seconds=grace, seconds=pace + grace)
        for wave, pace, grace in ((1, 1.5, 60), (2, 1.5, 10))
    )

    text = time_text(replace(moved(), waves=waves, keeps_waves=keeps_waves))

    assert text.startswith(f"{said} for pace and grace periods")


def test_verdict_tells_goals_limits_waves_and_time() -> None:
    plan = moved(2)
    moves = tuple(replace(move, wave=wave) for wave, move in enumerate(plan.moves, start=1))
    goals = goal(objective(sentence="2 nodes drained"), objective(sentence="1 pod pending"))
    totals = replace(plan.landings, no=3, owner_ends=1)

    verdict = review_of(replace(plan, moves=moves, goal=goals, landings=totals)).verdict

    assert list(verdict)[:4] == [
        "2 pods would be evicted",
        "2 nodes drained",
        "1 pod pending",
        "2 replacements would stay pending",
    ]
    assert [sentence.split(";")[0] for sentence in verdict[4:]] == [
        "2 waves",
        "estimated time: 30s for pace and grace periods, plus the start of replacement pods",
    ]


def test_verdict_of_a_plan_without_evictions_says_why_and_that_of_a_limit_what_stopped_it() -> None:
    limited = make_test_plan(policy=pod_life_time_policy(maxNoOfPodsToEvictTotal=1))

    idle = review_of(make_test_plan([make_pod("young", age=1)])).verdict
    stopped = review_of(limited).verdict

    assert [sentence.split(":")[0] for sentence in idle] == ["0 pods would be evicted", "PodLifeTime"]
    assert stopped[1] == "stopped by maxNoOfPodsToEvictTotal (1); 2 more pods match"
    assert len(stopped) == 3


def test_verdict_of_a_skipped_run_is_why() -> None:
    (said,) = review_of(make_test_plan(nodes=[])).verdict

    assert said.startswith("Skipped: ")


def test_pods_that_stay_are_grouped_by_reason_and_limit_most_first() -> None:
    plan = make_test_plan([make_pod("old")], policy=pod_life_time_policy(maxNoOfPodsToEvictTotal=0))
    (refusal,) = plan.refusals
    keys = [("B", ""), ("A", "x"), ("A", "y"), ("A", "y"), ("Z", "")]
    refusals = tuple(replace(refusal, code=code, limit=limit, message=f"{code}{limit}") for code, limit in keys)

    found = review_of(replace(plan, refusals=refusals)).not_done

    assert [(each.code, each.number, each.meaning, each.key) for each in found] == [
        ("A", 2, "Ay", "y"),
        ("A", 1, "Ax", "x"),
        ("B", 1, "B", ""),
        ("Z", 1, "Z", ""),
    ]


def test_reason_with_several_messages_is_told_by_what_it_means_and_by_its_key() -> None:
    pods = [make_pod("a", namespace="x"), make_pod("b", namespace="y")]
    plan = make_test_plan(pods, policy=pod_life_time_policy(maxNoOfPodsToEvictTotal=0))
    (count,) = plan.refusal_counts
    refusals = tuple(replace(each, limit="", message=each.pod.name) for each in plan.refusals)
    counts = (replace(count, summary="what it means", key="nodeFit"),)

    known, unknown = (
        review_of(replace(plan, refusals=refusals, refusal_counts=each)).not_done[0] for each in (counts, ())
    )

    assert (known.meaning, known.key, known.pods) == ("what it means", "nodeFit", ["x/a", "y/b"])
    assert (unknown.meaning, unknown.key) == ("", "")


@pytest.mark.parametrize(
    ("source", "moves", "carried_out", "explained"),
    [
        ("https://10.0.0.1:6443", 1, True, True),
        ("https://10.0.0.1:6443", 0, False, False),
        ("dump.json", 1, False, True),
    ],
)
def test_plan_of_a_cluster_with_evictions_alone_can_be_carried_out(
    source: str, moves: int, carried_out: bool, explained: bool
) -> None:
    commands = review_of(make_test_plan([make_pod(f"p{n}") for n in range(moves)], source=source)).commands

    assert bool(commands["Carry out"]) is carried_out
    assert bool(commands["Explain a pod"]) is explained


def test_plan_of_the_built_in_policy_names_no_command() -> None:
    plan = moved()

    assert review_of(replace(plan, policy=replace(plan.policy, path="built-in policy"))).commands == {}


def test_flags_of_a_shard_are_named_where_they_say_something() -> None:
    plan = moved()
    shard = ShardIdentity(index=0, count=2, label="", turn="", num_nodes=1)

    again = review_of(replace(plan, snapshot=replace(plan.snapshot, shard=shard))).commands["Plan again"]

    assert " --shards 2 --shard-index 0 --out" in again
