"""What is printed of a node: its state, its resources, its devices, and whether it can be drained."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from descheduler.explanation.subjects.node.document import (
    BatchFigures,
    Departure,
    DrainBlocker,
    ExpectedArrival,
    NodeDevices,
    NodeExplanation,
    NodeFacts,
    NodeLanding,
    NodeResource,
    NotSelected,
    Stay,
    StayCount,
)
from descheduler.explanation.subjects.node.table import node_table
from descheduler.report.document import PodReference
from descheduler.report.tables.table_style import TableStyle

FACTS = NodeFacts(name="a", is_ready=True, is_cordoned=False, taints=(), num_pods=3, resources=(), batch=(), devices=())
NODE = NodeExplanation(
    facts=FACTS,
    role="judged",
    unjudged="",
    departures=(),
    stays=(),
    stay_counts=(),
    not_selected=(),
    arrivals=(),
    pending_pods=(),
    landings=(),
    landing_counts=(),
    causes=(),
    drain_blockers=(),
    blocked_in_run="",
)


def pod(name: str) -> PodReference:
    return PodReference(namespace="shop", name=name, uid=name)


def lines_of(facts: NodeFacts = FACTS, *, is_wide: bool = False, **change: Any) -> list[str]:
    """The tables, with one space between columns and without empty lines."""
    lines = node_table(replace(NODE, facts=facts, **change), TableStyle(is_wide=is_wide))
    return [" ".join(line.split()) for line in lines if line]


@pytest.mark.parametrize(
    ("facts", "row"),
    [
        pytest.param({}, "a Ready 3 none", id="ready"),
        pytest.param({"is_ready": False}, "a NotReady 3 none", id="not ready"),
        pytest.param({"is_cordoned": True}, "a Ready,SchedulingDisabled 3 none", id="cordoned"),
        pytest.param({"taints": ("x:NoSchedule", "y:NoExecute")}, "a Ready 3 x:NoSchedule, y:NoExecute", id="taints"),
    ],
)
def test_state_of_the_node_is_that_of_kubectl(facts: dict[str, Any], row: str) -> None:
    assert lines_of(replace(FACTS, **facts))[:2] == ["NODE STATUS PODS TAINTS", row]


def test_requests_after_the_run_are_shown_where_they_differ() -> None:
    cpu = NodeResource(resource="cpu", allocatable=4000, requested=1000, planned=1000)
    memory = NodeResource(resource="memory", allocatable=0, requested=0, planned=0)

    same = lines_of(replace(FACTS, resources=(cpu, memory)))
    other = lines_of(replace(FACTS, resources=(replace(cpu, planned=500), memory)))

    assert same[2:5] == ["RESOURCE ALLOCATABLE REQUESTED SHARE", "cpu 4 1 25%", "memory 0 0 ?"]
    assert other[2:5] == [
        "RESOURCE ALLOCATABLE REQUESTED SHARE AFTER RUN SHARE",
        "cpu 4 1 25% 500m 12.5%",
        "memory 0 0 ? 0 ?",
    ]


def devices(**counts: int) -> NodeDevices:
    zero = dict.fromkeys(("in_use", "shared", "tainted", "unusable", "free", "planned_free"), 0)
    return NodeDevices(driver="d", device_class="", num_devices=4, **zero | counts)


@pytest.mark.parametrize(
    ("counts", "header", "row"),
    [
        pytest.param({}, "FREE", "0", id="none is free"),
        pytest.param({"free": 4, "planned_free": 4}, "FREE", "4", id="all are free"),
        pytest.param({"in_use": 1, "tainted": 1, "free": 2, "planned_free": 3},
                     "IN USE TAINTED FREE FREE AFTER RUN", "1 1 2 3", id="some are in use"),
        pytest.param({"shared": 1, "unusable": 3}, "SHARED UNUSABLE FREE", "1 3 0", id="others"),
    ],
)  # fmt: skip
def test_devices_are_counted_and_columns_of_nothing_are_left_out(counts: dict[str, int], header: str, row: str) -> None:
    lines = lines_of(replace(FACTS, devices=(devices(**counts),)))

    assert lines[2:4] == [f"DEVICE CLASS DRIVER DEVICES {header}", f"none d 4 {row}"]


def test_figures_for_batch_pods_have_a_limit_where_there_is_one() -> None:
    figures = BatchFigures(
        resource="cpu",
        capacity=4000,
        margin=1000,
        reserved=0,
        system_used=500,
        pods_used=500,
        pods_requested=600,
        allocatable=2000,
        published=1900,
        limit=1500,
    )

    rows = [lines_of(replace(FACTS, batch=(each,)))[3] for each in (figures, replace(figures, limit=None))]

    assert rows == ["cpu 4 1 500m 500m 2 1900m 1500m", "cpu 4 1 500m 500m 2 1900m -"]


def departure(name: str, **facts: Any) -> Departure:
    given = {"landing": "lands", "to_node": "b", "message": "", "reason": "too old", **facts}
    return Departure(pod=pod(name), profile="main", plugin="PodLifeTime", **given)


@pytest.mark.parametrize(
    ("facts", "row"),
    [
        pytest.param({}, "shop p b PodLifeTime too old", id="scheduled"),
        pytest.param(
            {"landing": "no", "to_node": None, "message": "no room"},
            "shop p pending PodLifeTime too old; replacement: no room", id="pending",
        ),
        pytest.param(
            {"landing": "unknown", "to_node": None, "message": "no template"},
            "shop p unknown PodLifeTime too old", id="what was not checked is said below",
        ),
        pytest.param(
            {"landing": "likely", "message": "GPUs"}, "shop p ~b PodLifeTime too old", id="likely",
        ),
        pytest.param(
            {"landing": None, "to_node": None, "message": "no replacement pod is created"},
            "shop p no new pod PodLifeTime too old; replacement: no replacement pod is created", id="not created",
        ),
    ],
)  # fmt: skip
def test_evicted_pod_is_shown_with_its_target(facts: dict[str, Any], row: str) -> None:
    lines = lines_of(departures=(departure("p", **facts),))

    assert lines[2:4] == ["NAMESPACE EVICTED POD TARGET PLUGIN REASON", row]


def test_wide_tables_say_what_was_not_checked_in_every_row() -> None:
    uncertain = departure("p", landing="unknown", to_node=None, message="no template")

    assert lines_of(departures=(uncertain,), is_wide=True)[3].endswith("too old; replacement: no template")


def test_replacements_that_come_name_the_nodes_that_rank_as_high() -> None:
    arrivals = [
        ExpectedArrival(pod=pod(f"p{number}"), from_node="z", plugin="P", landing="lands", nodes=nodes)
        for number, nodes in enumerate((("a",), ("a", "b"), ("a", "b", "c")))
    ]

    rows = lines_of(arrivals=tuple(arrivals))[3:6]

    assert rows == ["shop p0 z a P -", "shop p1 z a P b", "shop p2 z a P 2 nodes"]


BLOCKER = DrainBlocker(pod=pod("db"), blocker="PodDisruptionBudget", message="allows 0 disruptions", subject="db")
PENDING = NodeLanding(pod=pod("web"), landing="no", to_node=None, message="no room")


@pytest.mark.parametrize(
    ("facts", "answer"),
    [
        pytest.param({}, "yes", id="nothing"),
        pytest.param(
            {"drain_blockers": (BLOCKER,)}, "no, because of pod shop/db: allows 0 disruptions", id="a budget"
        ),
        pytest.param({"landings": (PENDING,)}, "no, because of pod shop/web: no room", id="no room"),
        pytest.param({"landings": (replace(PENDING, landing="unknown"),)}, "yes", id="room that is not known"),
        pytest.param({"drain_blockers": (replace(BLOCKER, blocker="DaemonSet"),)}, "yes", id="a DaemonSet"),
        pytest.param(
            {"drain_blockers": (BLOCKER,), "landings": (PENDING,)},
            "no, because of pod shop/web: no room (and 1 more pod)", id="two pods",
        ),
        pytest.param(
            {"drain_blockers": (BLOCKER, replace(BLOCKER, pod=pod("x")), replace(BLOCKER, pod=pod("y")))},
            "no, because of pod shop/db: allows 0 disruptions (and 2 more pods)", id="three pods",
        ),
        pytest.param(
            {"blocked_in_run": "a budget"}, "in a later run; not in this one: a budget", id="a later run"
        ),
        pytest.param(
            {"drain_blockers": (BLOCKER,), "blocked_in_run": "a budget"},
            "no, because of pod shop/db: allows 0 disruptions", id="neither now nor later",
        ),
    ],
)  # fmt: skip
def test_whether_the_node_can_be_drained_is_answered(facts: dict[str, Any], answer: str) -> None:
    assert f"Can be drained: {answer}" in lines_of(**facts)


@pytest.mark.parametrize(
    ("facts", "summary"),
    [
        pytest.param(
            {}, "0 pods would be evicted, 0 pods not evicted, 0 replacement pods would be scheduled onto the node",
            id="nothing",
        ),
        pytest.param(
            {"departures": (departure("p"),), "stay_counts": (StayCount(code="x", summary="", num_pods=2),),
             "pending_pods": (pod("w"),)},
            "1 pod would be evicted, 2 pods not evicted, 0 replacement pods and 1 pending pod would be scheduled onto"
            " the node", id="some",
        ),
        pytest.param(
            {"role": "left out"},
            "0 pods would be evicted, 0 pods not evicted, 0 replacement pods would be scheduled onto the node; plugins"
            " do not process this node: it is not ready, or nodeSelector does not match it", id="left out",
        ),
        pytest.param({"unjudged": "only 1 ready node"}, "skipped: only 1 ready node", id="skipped"),
    ],
)  # fmt: skip
def test_sum_of_a_run_comes_last(facts: dict[str, Any], summary: str) -> None:
    assert lines_of(**facts)[-1] == summary


def test_without_a_policy_there_is_no_sum() -> None:
    assert lines_of(role="without policy")[-1] == "Can be drained: yes"


def stay(name: str, code: str, message: str) -> Stay:
    return Stay(pod=pod(name), profile="main", plugin="P", code=code, message=message, subject="shop/train")


def test_gang_that_blocks_evictions_is_a_row_but_in_wide_tables() -> None:
    stays = tuple(stay(f"train-{number}", "GangMinimum", "needs all") for number in range(3))

    narrow, wide = (lines_of(stays=stays, is_wide=is_wide) for is_wide in (False, True))

    assert narrow[3] == "shop train-0 and 2 more P GangMinimum needs all"
    assert len([line for line in wide if line.endswith("needs all")]) == 3


def test_pods_that_no_plugin_selects_are_counted_by_what_plugins_say() -> None:
    said = NotSelected(profile="main", plugin="P", message="not old enough", num_pods=2, pod=pod("p"))

    assert "2 P not old enough" in lines_of(not_selected=(said,))
