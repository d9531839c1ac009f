"""Replacements that count otherwise than their pods, since the template of the owner has other labels or rules."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from descheduler.model.groups.workloads import Workload
from descheduler.model.pod import Pod
from descheduler.plan.decisions import Decisions
from tests.builders import Object, make_node, make_pod, required_anti_affinity
from tests.planner.runs import goal_of, run_objective
from tests.strategies.runs import evicted

ZONE = "topology.kubernetes.io/zone"
NODES = [
    make_node(name, cpu="10", labels={ZONE: name, "price": price}, taints=["dear:PreferNoSchedule"] * (name == "a"))
    for name, price in (("a", "2"), ("b", "1"))
]
BALANCE: Object = {"targetThresholds": {"cpu": 70}}


def spread(version: str) -> Object:
    return {
        "spread": [
            {
                "maxSkew": 1,
                "topologyKey": ZONE,
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": {"matchLabels": {"version": version}},
            }
        ]
    }


def apart(version: str) -> Object:
    return {"affinity": required_anti_affinity({"version": version})}


def run(key: str, template: Object, pods: Sequence[Pod], args: Object | None = None) -> Decisions:
    """The owner of `x` creates one with what the `template` states."""
    x = next(pod for pod in pods if pod.name == "x")
    uid = x.owners[0].uid
    owner = Workload("ReplicaSet", "default", "x", uid, 1, template=make_pod("x", cpu="1", node="", **template))
    return run_objective(key, NODES, pods, args=args, packs=False, workloads={uid: owner})


def old(name: str, node: str, rule: Object, **facts: object) -> Pod:
    return make_pod(name, cpu="1", node=node, labels={"version": "old"}, **{**rule, **facts})


def pods(rule: Object) -> list[Pod]:
    """Pod x keeps node a over its target, and may not follow the other one of its kind to node b, which stays."""
    x = old("x", "a", rule, owners=["ReplicaSet/x"])
    return [x, old("y", "b", rule, owners=[]), make_pod("z", cpu="6500m", node="a", owners=[])]


NEW: Object = {"labels": {"version": "new"}}


@pytest.mark.parametrize(
    "template",
    [
        pytest.param({**NEW, **spread("new")}, id="other labels, and a rule about these"),
        pytest.param({**NEW, **spread("old")}, id="other labels"),
        pytest.param(
            {"labels": {"version": "old"}, "spread": [{**spread("old")["spread"][0], "maxSkew": 2}]}, id="skew"
        ),
    ],
)
@pytest.mark.parametrize(
    ("key", "args", "figures"),
    [
        ("balanceUtilization", BALANCE, (1, 0, 0)),
        ("reduceCost", {"nodeCost": {"label": "price"}}, None),
    ],
)
def test_a_replacement_goes_where_a_spread_does_not_close_the_node_to_it(
    key: str, args: Object, figures: tuple[int, int, int] | None, template: Object
) -> None:
    decisions = run(key, template, pods(spread("old")), args)

    assert evicted(decisions) == ["x"]
    (level,) = goal_of(decisions).levels
    assert level.bound <= level.after
    assert figures is None or (level.before, level.after, level.bound) == figures


def test_a_spread_by_which_the_replacement_counts_as_its_pod_still_proves_that_the_node_stays() -> None:
    goal = goal_of(
        run("balanceUtilization", {"labels": {"version": "old"}, **spread("old")}, pods(spread("old")), BALANCE)
    )

    assert (goal.levels[0].bound, goal.status) == (1, "optimal")


@pytest.mark.parametrize("template", [{**NEW, **apart("new")}, {**NEW, **apart("old")}])
def test_a_replacement_goes_where_its_pod_would_be_beside_another_of_its_kind(template: Object) -> None:
    """Where it keeps apart from the old pods itself, the scheduler says so."""
    decisions = run("balanceUtilization", template, pods(apart("old")), BALANCE)

    may_come = template["affinity"] == apart("new")["affinity"]
    assert evicted(decisions) == (["x"] if may_come else [])


def test_nothing_is_said_to_be_proven_by_a_spread_that_a_replacement_leaves_even() -> None:
    """Pods p of node a could follow x, whose replacement counts no more, so that the spread of both zones is even."""
    rule = spread("old")
    kept = [old(f"kept-{number}", "b", rule, owners=[]) for number in range(2)]
    p = make_pod("p", cpu="3", node="a", labels={"version": "old"}, owners=["ReplicaSet/p"], **rule)
    x = old("x", "b", rule, owners=["ReplicaSet/x"])
    filler = make_pod("z", cpu="4500m", node="a", owners=[])

    goal = goal_of(run("balanceUtilization", {**NEW, **spread("new")}, [p, x, *kept, filler], BALANCE))

    assert goal.levels[0].bound == 0
