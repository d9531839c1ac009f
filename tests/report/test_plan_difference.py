"""How two plans differ: pod by pod, and in the lines of the summary."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from descheduler.report.document import ShardIdentity
from descheduler.report.plan.document import Plan
from descheduler.report.plan.goal import PlannedGoal, PlannedObjective
from descheduler.report.plan_difference import difference_of
from descheduler.report.tables.table_style import TableStyle
from tests.builders import make_pod
from tests.report.decided_cycles import make_test_plan

PLAN = make_test_plan([make_pod(name) for name in "abcd"])
MOVES = {move.pod.name: move for move in PLAN.moves}


def plan_of(*names: str, **change: Any) -> Plan:
    """A plan that evicts these pods, all of whose moves have the facts of `change`."""
    moves = [MOVES[name] for name in names]
    return replace(PLAN, moves=tuple(replace(move, **change) for move in moves))


def lines_of(old: Plan, new: Plan) -> list[str]:
    """The table, with one space between columns."""
    return [" ".join(line.split()) for line in difference_of(old, new).table(TableStyle())]


def test_pods_are_added_gone_or_in_both() -> None:
    found = difference_of(plan_of("a", "b", "c"), plan_of("c", "d"))

    assert [move.pod.name for move in found.added] == ["d"]
    assert [move.pod.name for move in found.gone] == ["a", "b"]
    assert found.unchanged + len(found.changed) == 1


@pytest.mark.parametrize(
    ("old", "new", "empty"),
    [
        pytest.param(("a",), ("a",), True, id="the same"),
        pytest.param((), ("a",), False, id="added"),
        pytest.param(("a",), (), False, id="gone"),
    ],
)
def test_plans_do_the_same_where_nothing_differs(old: tuple[str, ...], new: tuple[str, ...], empty: bool) -> None:
    found = difference_of(plan_of(*old), plan_of(*new))

    assert found.is_empty is empty
    assert ("Both plans do the same" in lines_of(plan_of(*old), plan_of(*new))) is empty


@pytest.mark.parametrize(
    ("before", "after", "field", "text"),
    [
        pytest.param({"from_node": "a"}, {"from_node": "c"}, "from", "node a → c", id="node"),
        pytest.param({"to_node": "a"}, {"to_node": "b"}, "to", "target a → b", id="target"),
        pytest.param({"to_node": None}, {"to_node": "b"}, "to", "target unknown → b", id="target that was not known"),
        pytest.param({"to_node": "b"}, {"to_node": None}, "to", "target b → unknown", id="target that is not known"),
        pytest.param({}, {"wave": 3}, "wave", "wave 1 → 3", id="wave"),
        pytest.param({}, {"plugin": "P"}, "plugin", "plugin PodLifeTime → P", id="plugin"),
        pytest.param({}, {"reason": "too old"}, "reason", "reason: too old", id="reason"),
        pytest.param({}, {"landing": None}, "landing", "another verdict on its landing", id="no landing"),
    ],
)
def test_each_changed_field_is_named_and_shown(
    before: dict[str, Any], after: dict[str, Any], field: str, text: str
) -> None:
    old, new = plan_of("a", **before), plan_of("a", **before | after)

    (changed,) = difference_of(old, new).changed

    assert changed.changed == (field,)
    assert f"default a {text}" in lines_of(old, new)
    assert difference_of(old, new).unchanged == 0


def test_verdict_on_a_landing_is_compared_and_not_its_words() -> None:
    plan = plan_of("a")
    landing = plan.moves[0].landing
    assert landing is not None

    said, judged = (
        difference_of(plan, plan_of("a", landing=replace(landing, **change)))
        for change in ({"message": "other words"}, {"verdict": "likely"})
    )

    assert said.is_empty
    assert [each.changed for each in judged.changed] == [("landing",)]


def test_pods_without_uid_are_the_same_by_namespace_and_name() -> None:
    plan = plan_of("a", "b")
    bare = replace(plan, moves=tuple(replace(move, pod=replace(move.pod, uid="")) for move in plan.moves))

    assert difference_of(bare, bare).unchanged == 2
    assert difference_of(plan, bare).unchanged == 0


def test_pod_of_the_same_name_with_another_uid_is_another_pod() -> None:
    plan = plan_of("a")
    reborn = replace(plan, moves=tuple(replace(move, pod=replace(move.pod, uid="new")) for move in plan.moves))

    found = difference_of(plan, reborn)

    assert ([move.pod.uid for move in found.gone], [move.pod.uid for move in found.added]) == (["default-a"], ["new"])


def test_summary_counts_each_kind_of_difference() -> None:
    lines = lines_of(plan_of("a", "b", "c"), plan_of("c", "d", wave=2, to_node="b"))

    assert lines[:3] == [
        "Only in the new plan: 1 pod",
        "NAMESPACE POD NODE TARGET WAVE REASON",
        "default d a b 2 1 h old (maxPodLifeTimeSeconds: 60)",
    ]
    assert "Only in the old plan: 2 pods" in lines
    assert "In both plans, changed: 1 pod" in lines
    assert "1 added, 2 gone, 1 changed" in lines


def test_target_that_is_not_known_is_an_empty_cell() -> None:
    assert lines_of(plan_of(), plan_of("a", to_node=None))[2].startswith("default a a - 1 ")


@pytest.mark.parametrize(("digest", "said"), [("other", True), (None, False)], ids=["another", "the same"])
def test_another_policy_is_said(digest: str | None, said: bool) -> None:
    old, new = plan_of("a"), plan_of("a")
    new = new if digest is None else replace(new, policy=replace(new.policy, digest=digest))

    assert ("Policy: differs" in lines_of(old, new)) is said


def test_policies_are_named_once_where_they_are_the_same() -> None:
    plan = plan_of("a")
    other = replace(plan, policy=replace(plan.policy, path="other.yaml"))

    heads = [difference_of(plan, each).head()[0] for each in (plan, other)]

    assert heads == ["Policy: policy.yaml", "Policy: policy.yaml and other.yaml"]


def test_shards_are_said_where_they_differ() -> None:
    plan = plan_of("a")
    shards = [ShardIdentity(index=index, count=2, label="", turn="", num_nodes=1) for index in range(2)]
    parts = [replace(plan, snapshot=replace(plan.snapshot, shard=shard)) for shard in shards]

    assert any(line.startswith("Shard: differs: shard 0 of 2") for line in lines_of(*parts))
    assert not any(line.startswith("Shard:") for line in lines_of(parts[0], parts[0]))


def test_each_plan_is_told_by_the_sentences_about_its_goals_and_without_any_by_its_evictions() -> None:
    objective = PlannedObjective(
        profile="p",
        plugin="MigrationPlanner",
        objective="DrainNodes",
        levels=(),
        evictions=0,
        bound=None,
        cost=0,
        cost_bound=None,
        sentence="2 nodes drained",
        pending_pods=(),
        targets={},
        history=(),
        blocked_nodes=(),
    )
    goal = PlannedGoal(
        objectives=(objective, replace(objective, sentence="3 nodes emptied")),
        evictions=0,
        bound=None,
        gap=None,
        status="feasible",
        seconds=0.0,
        work=0.0,
        search_ended_by="",
    )
    plan = plan_of("a")

    found = difference_of(plan, replace(plan, goal=goal))

    assert (found.old.goals, found.new.goals) == (("1 pod would be evicted",), ("2 nodes drained", "3 nodes emptied"))
    assert (found.old.evictions, found.old.refused) == (1, 0)
