"""The tables about one pod on every node, and the pods that wait."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from descheduler.explanation.scheduling.placement import (
    NearMiss,
    NodeObstacle,
    ObstacleCount,
    PlacementAnalysis,
    PodRefusal,
    RankedNode,
    placement_table,
)
from descheduler.explanation.scheduling.waiting import WaitingPod, is_pending, waiting_pods, waiting_table
from descheduler.report.tables.table_style import TableStyle
from tests.builders import make_pod

PLACEMENT = PlacementAnalysis(
    scheduler="default-scheduler",
    summary="2/7 nodes are available",
    num_nodes=7,
    num_feasible=0,
    is_queued=True,
    refusals=(),
    obstacles=(),
    misses=(),
    num_misses=0,
    ranking=(),
    margin=None,
    score_error="",
    notes=(),
    quota=None,
)


def ranked(node: str, total: int = 100, *, best: bool = False, source: bool = False, **scores: int) -> RankedNode:
    return RankedNode(node=node, total=total, is_best=best, is_source=source, scores=scores)


def miss(node: str, *reasons: str, source: bool = False, details: tuple[str, ...] = ()) -> NearMiss:
    """A node that one plugin excludes for each of the reasons."""
    return NearMiss(
        node=node,
        is_source=source,
        obstacles=tuple(
            NodeObstacle(plugin="P", finality="unschedulable", reasons=(reason,), details=details, deficits=())
            for reason in reasons
        ),
    )


def lines_of(*, is_wide: bool = False, **facts: Any) -> list[str]:
    """The table, with one space between columns, and without its first line and empty ones."""
    lines = placement_table(replace(PLACEMENT, **facts), TableStyle(is_wide=is_wide), "the pod")
    return [" ".join(line.split()) for line in lines if line][1:]


def test_pod_that_is_refused_before_any_node_has_the_plugin_and_its_reasons() -> None:
    refusal = PodRefusal(plugin="Gates", finality="unresolvable", reasons=("gated", "x"))

    assert lines_of(refusals=(refusal,)) == ["BLOCKED BY REASON", "Gates gated, x"]


def test_causes_of_the_event_are_told_where_the_table_counts_otherwise() -> None:
    summary = "0/7 nodes are available: 7 Insufficient cpu"
    obstacle = ObstacleCount(plugin="P", reason="Insufficient cpu", num_nodes=7, num_alone=5)

    text = "\n".join(placement_table(replace(PLACEMENT, summary=summary), TableStyle(), "the pod"))

    assert text.splitlines()[0] == f"placement of the pod: {summary}"
    assert lines_of(summary=summary, obstacles=(obstacle,)) == [
        "As in the FailedScheduling Event (each node counted once): 7 Insufficient cpu",
        "NODES ONLY REASON PLUGIN REASON",
        "7 5 P Insufficient cpu",
    ]


def test_nodes_are_ranked_with_the_scores_that_differ() -> None:
    nodes = (ranked("a", best=True, Fit=90, Taint=3), ranked("b", 80, source=True, Fit=70, Taint=3))

    assert lines_of(ranking=nodes, num_feasible=2) == [
        "AVAILABLE NODE TOTAL Fit REMARK",
        "a 100 90 best",
        "b 80 70 current node",
    ]
    assert lines_of(ranking=nodes, num_feasible=2, is_wide=True)[0] == "AVAILABLE NODE TOTAL Fit Taint REMARK"


def test_best_node_can_be_the_current_one() -> None:
    assert lines_of(ranking=(ranked("a", best=True, source=True),))[1] == "a 100 best, current node"


@pytest.mark.parametrize(
    ("number", "feasible", "shown", "rest"),
    [
        (5, 5, 5, []),
        (6, 6, 5, ["and 1 more available node"]),
        (6, 9, 5, ["and 4 more available nodes"]),
        (0, 3, 0, ["3 available nodes"]),
        (0, 1, 0, ["1 available node"]),
        (0, 0, 0, []),
    ],
)
def test_first_nodes_are_shown_and_the_others_are_counted(
    number: int, feasible: int, shown: int, rest: list[str]
) -> None:
    nodes = tuple(ranked(f"n{each}") for each in range(number))

    lines = lines_of(ranking=nodes, num_feasible=feasible)

    assert len([line for line in lines if line.startswith("n")]) == shown
    assert [line for line in lines if "available node" in line] == rest


def test_current_node_is_shown_wherever_it_ranks() -> None:
    nodes = (*(ranked(f"n{each}") for each in range(6)), ranked("mine", source=True))

    assert "mine 100 current node" in lines_of(ranking=nodes, num_feasible=7)
    assert len(lines_of(ranking=nodes, num_feasible=7, is_wide=True)) == 8


def test_pod_that_cannot_be_scored_says_why() -> None:
    assert lines_of(score_error="a\x1b") == ["the pod cannot be scored: a\\x1b"]


def test_misses_say_details_or_else_the_words_of_the_scheduler() -> None:
    misses = (miss("a", "Insufficient cpu", details=("1 CPU short", "2 CPU free")), miss("b", "x", source=True))

    assert lines_of(misses=misses, num_misses=2) == [
        "NODE THAT NEARLY FITS PLUGIN REASON",
        "a P 1 CPU short; 2 CPU free",
        "b (current) P x",
    ]


def test_first_two_misses_of_a_kind_and_the_current_node_are_shown() -> None:
    misses = (*(miss(f"a{each}", "x") for each in range(3)), miss("mine", "x", source=True), miss("b", "y"))

    narrow, wide = (lines_of(misses=misses, num_misses=9, is_wide=is_wide) for is_wide in (False, True))

    assert [line.split()[0] for line in narrow[1:-1]] == ["a0", "a1", "mine", "b"]
    assert narrow[-1] == "5 more nodes are blocked by 1 plugin (-o wide shows more)"
    assert wide[-1] == "4 more nodes are blocked by 1 plugin"


def test_misses_that_wide_tables_show_no_more_of_are_counted_without_that_hint() -> None:
    assert lines_of(misses=(miss("a", "x", "y"),), num_misses=2)[-1] == "1 more node is blocked by 2 plugins"
    assert len(lines_of(misses=(miss("a", "x"),), num_misses=1)) == 2


def test_pods_that_wait_are_looked_at_up_to_a_number() -> None:
    pods = [make_pod(f"p{number:02}", node="") for number in range(21)]

    found = list(waiting_pods(pods, lambda pod: f"why {pod.name}"))

    assert [each.message for each in found[-2:]] == ["why p19", ""]


def test_pods_that_were_not_looked_at_are_counted() -> None:
    pods: list[WaitingPod] = list(waiting_pods([make_pod(f"p{n}", node="") for n in range(23)], lambda pod: "x"))

    assert list(waiting_table(pods[:21], TableStyle()))[-2] == "1 more pod waits; explain pod says why"

    lines = list(waiting_table(pods, TableStyle()))

    assert lines[-2:] == ["3 more pods wait; explain pod says why", ""]
    assert len(lines) == 1 + 20 + 3
    assert list(waiting_table(pods[:20], TableStyle()))[-1] == ""
    assert "more pods" not in "".join(waiting_table(pods[:20], TableStyle()))


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({"node": ""}, True),
        ({"node": "a"}, False),
        ({"node": "", "phase": "Failed"}, False),
        ({"node": "", "deleted": 1}, False),
    ],
)
def test_pod_waits_that_has_no_node_and_is_not_about_to_go(facts: dict[str, Any], expected: bool) -> None:
    assert is_pending(make_pod("p", **facts)) is expected
