"""MigrationPlanner with RepairViolations: what strategies select is solved together, others make room."""

from __future__ import annotations

from datetime import timedelta

import pytest

from descheduler.cycle.deciding.decide import decide
from descheduler.cycle.deciding.round import RunSetting
from descheduler.cycle.plugins import REGISTRY
from descheduler.documents.problems import PolicyError
from descheduler.model.node import ZONE_LABEL as ZONE
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.plan.goals import Level
from descheduler.policy.load import load_policy
from tests.builders import (
    NOW,
    Object,
    make_budget,
    make_node,
    make_pod,
    make_snapshot,
    preferred_node_affinity,
    required_anti_affinity,
    required_node_affinity,
)
from tests.eviction.drained_gangs import policy_of, snapshot_of, train
from tests.placement.plugins.coscheduling.worlds import group_of
from tests.planner.choosing import choosing_policy
from tests.planner.repairs import (
    AFFINITY,
    ANTI_AFFINITY,
    DUPLICATES,
    FREE,
    LIFE_TIME,
    RESERVATION,
    SPREAD,
    TAINTED,
    TAINTS,
    goal_of,
    policy_for,
    run,
)
from tests.strategies.runs import evicted, refused, run_plugin

RESERVED = {"node.koordinator.sh/reservation": '{"resources": {"cpu": "1"}}'}
EVICTS: Object = {
    "enabled": [{"name": "DefaultEvictor"}],
    "disabled": [{"name": "*"}, {"name": "PlacementVerification"}],
}


def problems_of(policy: Object) -> list[str]:
    try:
        load_policy(policy, REGISTRY)
    except PolicyError as error:
        return str(error).splitlines()
    return []


def test_selected_pods_leave_with_the_sentences_of_their_strategies() -> None:
    decisions = run([TAINTED, *FREE], [make_pod("web", cpu="1", node="tainted"), make_pod("ok", node="a")], TAINTS)

    assert evicted(decisions) == ["web"]
    assert decisions.moves[0].plugin == "MigrationPlanner"
    assert decisions.moves[0].reason == f"{TAINTS}: does not tolerate taint maintenance:NoSchedule of node tainted"
    assert goal_of(decisions).levels == (Level("violations left", 1, 0, 0),)
    assert goal_of(decisions).sentence == "1 violation → 0 with 1 eviction (at least 1 is needed)"


def test_a_pod_that_several_strategies_select_counts_once_and_its_reason_names_all() -> None:
    labelled = [make_node(name, cpu="10", labels={"disk": "ssd"}) for name in "ab"]
    pod = make_pod("db", cpu="1", node="tainted", affinity=required_node_affinity("disk", "ssd"))

    decisions = run([TAINTED, *labelled], [pod], TAINTS, AFFINITY)

    assert evicted(decisions) == ["db"]
    assert decisions.moves[0].reason.count("RemovePodsViolating") == 2
    assert goal_of(decisions).levels[0].before == 1


def test_nothing_is_planned_where_the_strategies_select_nothing() -> None:
    decisions = run(FREE, [make_pod("web", node="a")], TAINTS, DUPLICATES)

    assert evicted(decisions) == []
    assert goal_of(decisions).sentence == f"no pod is selected by {TAINTS} or {DUPLICATES}"


def ssd_full() -> tuple[list[Node], list[Pod]]:
    """Pod db has to be on an ssd node, and the only one is full with pods that may be anywhere."""
    nodes = [
        make_node("ssd", cpu="4", labels={"disk": "ssd"}),
        make_node("old", cpu="4"),
        make_node("spare", cpu="4"),
    ]
    pods = [
        make_pod("db", cpu="3", node="old", affinity=required_node_affinity("disk", "ssd")),
        make_pod("large", cpu="3", node="ssd"),
        make_pod("small", cpu="1", node="ssd"),
    ]
    return nodes, pods


def test_another_pod_makes_room_where_that_helps() -> None:
    decisions = run(*ssd_full(), AFFINITY)

    assert evicted(decisions) == ["large", "db"]
    assert decisions.moves[0].reason == "makes room on node ssd for pod default/db"
    assert goal_of(decisions).sentence == "1 violation → 0 with 2 evictions"


def test_a_pod_that_makes_room_stays_where_the_other_cannot_leave() -> None:
    nodes, (db, *others) = ssd_full()
    db = make_pod("db", cpu="3", node="old", labels={"app": "db"}, affinity=required_node_affinity("disk", "ssd"))

    decisions = run(
        nodes, [db, *others], AFFINITY, budgets=(make_budget("guard", {"app": "db"}, disruptions_allowed=0),)
    )

    assert evicted(decisions) == []
    assert goal_of(decisions).sentence == (
        "1 violation → 1 with 0 evictions; no better plan was found within the limits; pod default/db:"
        " PodDisruptionBudget default/guard allows 0 disruptions (0 healthy, 0 required)"
    )


def test_another_pod_makes_room_in_place_of_one_that_would_return() -> None:
    """The cheaper of two prefers the node that it is to leave; without it the other one leaves."""
    nodes = [make_node("ssd", cpu="4", labels={"disk": "ssd"}), make_node("old", cpu="4"), make_node("spare", cpu="8")]
    pods = [
        make_pod("db", cpu="1", node="old", affinity=required_node_affinity("disk", "ssd")),
        make_pod("faithful", cpu="1", node="ssd", affinity=preferred_node_affinity(("disk", "ssd", 100))),
        make_pod("important", cpu="3", node="ssd", priority=1000),
    ]

    decisions = run(nodes, pods, AFFINITY)

    assert evicted(decisions) == ["important", "db"]


def test_a_pod_that_no_other_node_could_take_is_in_the_bound() -> None:
    pods = [make_pod("huge", cpu="10", node="tainted"), make_pod("web", cpu="1", node="tainted")]
    nodes = [make_node("tainted", cpu="16", taints=["maintenance:NoSchedule"]), make_node("a", cpu="8")]

    decisions = run(nodes, pods, TAINTS)

    assert evicted(decisions) == ["web"]
    assert goal_of(decisions).levels == (Level("violations left", 2, 1, 1),)
    assert goal_of(decisions).status == "optimal"


def test_selected_pods_that_cannot_be_evicted_are_told_with_the_cause() -> None:
    """No plan moves any; nothing is said that a limit says."""
    pods = [make_pod(name, cpu="1", node="tainted", labels={"app": "g"}) for name in "pq"]
    budgets = (make_budget("g", {"app": "g"}, disruptions_allowed=0),)

    kept = goal_of(run([TAINTED, *FREE], pods, TAINTS, budgets=budgets))
    limited = goal_of(run([TAINTED, *FREE], pods, TAINTS, policy={"maxNoOfPodsToEvictTotal": 0}))

    assert kept.sentence == (
        "2 violations → 2 with 0 evictions; no plan does better; pod default/p and 1 more pod: PodDisruptionBudget"
        " default/g allows 0 disruptions (0 healthy, 0 required)"
    )
    assert limited.sentence.startswith("2 violations → 2 with 0 evictions; proven best for maxNoOfPodsToEvictTotal (0)")
    assert "default/p" not in limited.sentence


def test_the_goal_says_why_pods_are_left_of_those_that_other_evictions_repair() -> None:
    stuck = make_pod("stuck", cpu="1", node="tainted", labels={"app": "g"})
    budgets = (make_budget("g", {"app": "g"}, disruptions_allowed=0),)

    goal = goal_of(run([TAINTED, *FREE], [stuck, make_pod("p", cpu="1", node="tainted")], TAINTS, budgets=budgets))

    assert goal.sentence == (
        "2 violations → 1 with 1 eviction; no plan does better; pod default/stuck: PodDisruptionBudget default/g"
        " allows 0 disruptions (0 healthy, 0 required)"
    )


def test_several_strategies_that_select_nothing_are_listed() -> None:
    pods = [make_pod("p", cpu="1", node="a")]

    assert goal_of(run(FREE, pods, TAINTS, DUPLICATES, AFFINITY)).sentence == (
        f"no pod is selected by {TAINTS}, {DUPLICATES} or {AFFINITY}"
    )


def test_pods_that_have_finished_do_not_hide_selected_pods_that_cannot_be_moved() -> None:
    """PodLifeTime selects both. A strategy that has others to select in place of stuck pods is run without these."""
    stuck = make_pod("stuck", cpu="1", node="a", age=3600, node_selector={"only": "here"})
    done = make_pod("done", node="a", age=3600, phase="Succeeded")

    goal = goal_of(run(FREE, [stuck, done], LIFE_TIME))

    assert goal.levels == (Level("violations left", 1, 1, 1),)
    assert goal.sentence.startswith("1 violation → 1 with 0 evictions; no plan does better")


def test_nothing_is_said_to_be_needed_where_one_move_may_end_several_violations() -> None:
    """Two pods that must not be together are two violations of which the eviction of one ends both."""
    apart = required_anti_affinity({"app": "web"}, key="kubernetes.io/hostname")
    pods = [make_pod(name, cpu="1", node="a", labels={"app": "web"}, affinity=apart) for name in "pq"]

    goal = goal_of(run(FREE, pods, "RemovePodsViolatingInterPodAntiAffinity"))

    assert (goal.bound, goal.cost_bound) == (None, None)
    assert "needed" not in goal.sentence
    assert goal.status == "feasible"


def test_weightier_strategies_are_repaired_first() -> None:
    labelled = [make_node("ssd", cpu="10", labels={"disk": "ssd"}), make_node("old", cpu="10")]
    pods = [
        make_pod("tainted", cpu="1", node="tainted"),
        make_pod("db", cpu="1", node="old", affinity=required_node_affinity("disk", "ssd")),
    ]

    def first(weights: Object) -> list[str]:
        policy = {"maxNoOfPodsToEvictTotal": 1}
        return evicted(run([TAINTED, *labelled], pods, TAINTS, AFFINITY, weights=weights, policy=policy))

    assert first({TAINTS: 2}) == ["tainted"]
    assert first({AFFINITY: 2}) == ["db"]


def test_limits_do_not_hide_violations() -> None:
    pods = [make_pod(f"p{n}", cpu="1", node="tainted") for n in range(4)]

    decisions = run([TAINTED, *FREE], pods, TAINTS, policy={"maxNoOfPodsToEvictTotal": 1})

    assert goal_of(decisions).levels == (Level("violations left", 4, 3, 3),)
    assert goal_of(decisions).sentence == (
        "4 violations → 3 with 1 eviction; proven best for maxNoOfPodsToEvictTotal (1); the rest needs at least 3 more"
        " evictions"
    )
    assert refused(decisions) == {}


def test_a_strategy_selects_others_in_place_of_pods_that_cannot_leave() -> None:
    """Either of two pods can leave the other; the one that the strategy would evict first is guarded."""
    apart: Object = {"labels": {"app": "x"}, "affinity": required_anti_affinity({"app": "x"})}
    pods = [make_pod(name, cpu="1", node="a", **apart) for name in ("one", "two")]
    (first,) = evicted(run(FREE, pods, ANTI_AFFINITY))
    (other,) = (pod.name for pod in pods if pod.name != first)
    guarded = [
        pod
        if pod.name == other
        else make_pod(first, cpu="1", node="a", **{**apart, "labels": {"app": "x", "is": "guarded"}})
        for pod in pods
    ]

    decisions = run(
        FREE, guarded, ANTI_AFFINITY, budgets=(make_budget("guard", {"is": "guarded"}, disruptions_allowed=0),)
    )

    assert evicted(decisions) == [other]
    assert goal_of(decisions).levels == (Level("violations left", 1, 0, 0),)


def test_moves_of_other_plugins_count_before_strategies_select() -> None:
    """PodLifeTime evicts one of two replicas, and none of them is too many for node a any more."""
    pods = [
        make_pod(name, cpu="1", node="a", owners=["ReplicaSet/web"], age=age)
        for name, age in {"x": 9, "y": 999}.items()
    ]
    policy = policy_for(DUPLICATES)
    (profile,) = policy["profiles"]
    profile["pluginConfig"].append({"name": "PodLifeTime", "args": {"maxPodLifeTimeSeconds": 99}})
    profile["plugins"]["deschedule"] = {"enabled": ["PodLifeTime"]}

    decisions = run_plugin("MigrationPlanner", FREE, pods, policy=policy)

    assert [(move.pod.name, move.plugin) for move in decisions.moves] == [("y", "PodLifeTime")]
    assert goal_of(decisions).status == "nothing"


def test_a_profile_of_a_descheduler_configuration_needs_no_arguments_for_strategies_with_defaults() -> None:
    policy = policy_for(TAINTS, configured=())
    (profile,) = policy["profiles"]
    profile["plugins"] = {"balance": {"enabled": [{"name": "MigrationPlanner"}]}, "evict": EVICTS, "filter": EVICTS}

    decisions = run(
        [TAINTED, *FREE],
        [make_pod("web", cpu="1", node="tainted")],
        TAINTS,
        policy={**policy, "kind": "DeschedulerConfiguration"},
    )

    assert evicted(decisions) == ["web"]
    assert goal_of(decisions).levels[0].after == 0


@pytest.mark.parametrize(("most", "leaving"), [(1, []), (2, []), (3, ["m0", "m1", "m2"])])
def test_pods_that_leave_with_their_gang_count_against_the_limit_of_the_planner(most: int, leaving: list[str]) -> None:
    """Two of the gang are on the tainted node, and the third leaves because they do."""
    document = policy_of("evictGang")
    (profile,) = document["profiles"]
    planner = {"objectives": [{"repairViolations": {"strategies": [TAINTS]}}], "timeLimit": "20s", "workLimit": 2}
    profile["pluginConfig"].append({"name": "MigrationPlanner", "args": {**planner, "maxEvictions": most}})
    profile["plugins"]["deschedule"] = {"disabled": [{"name": "*"}]}
    profile["plugins"]["balance"]["enabled"] = [{"name": "MigrationPlanner"}]

    decisions = decide(load_policy(document, REGISTRY), snapshot_of(train(), group_of("train", 3)), now=NOW)

    assert evicted(decisions) == leaving
    assert goal_of(decisions).evictions == len(leaving)


def test_what_a_strategy_remembers_is_kept_for_the_next_run() -> None:
    policy = policy_for(RESERVATION)
    snapshot = make_snapshot(
        [make_node("reserving", cpu="4", annotations=RESERVED), *FREE], [make_pod("web", cpu="4", node="reserving")]
    )
    loaded = load_policy(policy, REGISTRY)

    first = decide(loaded, snapshot, now=NOW)
    second = decide(loaded, snapshot, now=NOW + timedelta(hours=1), setting=RunSetting(memory=first.memory))

    assert goal_of(first).sentence == f"no pod is selected by {RESERVATION}"
    assert evicted(second) == ["web"]


def test_strategy_without_arguments_in_the_profile_is_a_fault_of_the_policy() -> None:
    (problem,) = problems_of(policy_for(TAINTS, configured=()))

    assert problem.endswith(
        "objectives[0].repairViolations.strategies[0]: plugin RemovePodsViolatingNodeTaints has no pluginConfig entry;"
        " add '- name: RemovePodsViolatingNodeTaints' to the profile's pluginConfig"
    )


def test_unknown_strategies_are_a_fault_of_the_policy() -> None:
    (problem,) = problems_of(policy_for("RemoveDuplicate", configured=()))

    assert "unknown plugin 'RemoveDuplicate'" in problem
    (problem,) = problems_of(policy_for("DefaultEvictor", configured=()))
    assert "DefaultEvictor does not select pods" in problem
    assert any("cannot run itself" in problem for problem in problems_of(policy_for("MigrationPlanner", configured=())))


def test_equal_input_gives_equal_plans() -> None:
    first, second = (run(*ssd_full(), AFFINITY) for _ in range(2))

    assert evicted(first) == evicted(second)


def test_replacements_count_for_spread_where_migration_controller_filters() -> None:
    """Its filter refuses replacements of pods that migrate; they are in their domain all the same."""
    nodes = [make_node(name, cpu="10", labels={ZONE: f"zone-{name}"}) for name in "ab"]
    selector = {"matchLabels": {"app": "web"}}
    constraint = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector}
    facts = {"labels": {"app": "web"}, "spread": [constraint]}
    pods = [make_pod(f"web-{number}", owners=[f"ReplicaSet/{number}"], **facts) for number in range(3)]
    policy = choosing_policy({"repairViolations": {"strategies": [SPREAD]}})
    policy["profiles"][0]["pluginConfig"].append({"name": SPREAD, "args": {}})

    decisions = run_plugin("MigrationPlanner", nodes, pods, policy=policy)

    assert len(evicted(decisions)) == 1
    assert goal_of(decisions).levels == (Level("violations left", 1, 0, 0),)


def test_nothing_is_proven_of_a_pod_whose_only_other_node_is_closed_by_a_pod_that_could_leave() -> None:
    tainted = make_node("a", cpu="4", taints=["dedicated=x:NoSchedule"])
    only_b = {"affinity": required_node_affinity("kubernetes.io/hostname", "b")}
    nodes = [tainted, *(make_node(name, cpu="4", labels={"kubernetes.io/hostname": name}) for name in "bc")]
    apart = required_anti_affinity({"app": "web"})
    pods = [make_pod("web", labels={"app": "web"}, **only_b), make_pod("apart", node="b", affinity=apart)]

    goal = goal_of(run(nodes, pods, TAINTS))

    assert goal.levels == (Level("violations left", 1, 1, 0),)
    assert goal.status == "feasible"
