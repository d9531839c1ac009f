"""Refusals that concern a whole gang are one row."""

from __future__ import annotations

import msgspec

from descheduler.report.document import PodReference
from descheduler.report.plan.document import PlannedRefusal
from descheduler.report.tables.gang_rows import by_gang, shown_nodes, shown_pods
from descheduler.report.tables.plan_table import plan_table
from descheduler.report.tables.table_style import TableStyle
from tests.builders import make_pod
from tests.report.decided_cycles import make_test_plan

_TRAIN = "gang ai/train has 4 pods running; it needs 4 (minMember), and 1 pod would be evicted"


def _refused(
    name: str, node: str = "a", code: str = "GangMinimum", message: str = _TRAIN, subject: str = "ai/train"
) -> PlannedRefusal:
    return PlannedRefusal(
        pod=PodReference(namespace="ai", name=name, uid=name),
        node=node,
        profile="p",
        plugin="RemovePodsViolatingNodeTaints",
        reason="does not tolerate a taint",
        code=code,
        message=message,
        subject=subject,
        limit="",
        is_attempt=True,
        others=(),
        api_answer=None,
    )


def test_members_of_a_gang_are_one_row_in_the_place_of_the_first() -> None:
    other = _TRAIN.replace("train", "bert")
    rows = [
        _refused("train-0"),
        _refused("x", code="NoLanding", subject=""),
        _refused("train-1"),
        _refused("bert-0", message=other),
    ]

    names = [[row.pod.name for row in group] for group in by_gang(rows)]

    assert names == [["train-0", "train-1"], ["x"], ["bert-0"]]


def test_pods_that_are_refused_for_another_reason_are_told_one_by_one() -> None:
    rows = [_refused("x", code="NoLanding", subject=""), _refused("y", code="NoLanding", subject="")]

    assert [len(group) for group in by_gang(rows)] == [1, 1]


def test_members_whose_gang_cannot_be_scheduled_are_one_row_a_gang() -> None:
    said = "the scheduler rejects the replacement pod"
    rows = [
        _refused("train-0", code="NoLanding", message=said),
        _refused("bert-0", code="NoLanding", message=said, subject="ai/bert"),
        _refused("train-1", code="NoLanding", message=said),
    ]

    assert [len(group) for group in by_gang(rows)] == [2, 1]


def test_row_names_the_first_pod_and_counts_pods_and_nodes() -> None:
    rows = [_refused(f"train-{index}", node) for index, node in enumerate("aab")]

    assert (shown_pods(rows), shown_nodes(row.node for row in rows)) == ("train-0 and 2 more", "2 nodes")
    assert (shown_pods(rows[:1]), shown_nodes(row.node for row in rows[:1])) == ("train-0", "a")


def test_table_of_a_plan_counts_the_pods_of_a_gang_and_not_its_row() -> None:
    plan = make_test_plan([make_pod("p")])
    plan = msgspec.structs.replace(plan, refusals=tuple(_refused(f"train-{index}") for index in range(4)))

    narrow, wide = ("\n".join(plan_table(plan, TableStyle(is_wide=is_wide))) for is_wide in (False, True))

    assert "Not evicted: 4 pods\n" in narrow
    assert f"ai          train-0 and 3 more   a      RemovePodsViolatingNodeTaints   {_TRAIN}" in narrow
    assert wide.count(_TRAIN) == 4


def test_pods_are_one_row_that_compete_for_one_order_and_that_the_same_plugin_selects() -> None:
    rows = [_refused(f"p{number}", code="OrderDependentLanding") for number in range(2)]
    other = msgspec.structs.replace(rows[0], plugin="Other")

    assert [len(group) for group in by_gang([*rows, other])] == [2, 1]


def test_pods_that_have_no_node_to_go_to_are_one_row_where_a_gang_is_the_subject() -> None:
    rows = [_refused(f"p{number}", code="BarePod", subject="ai/train") for number in range(2)]

    assert [len(group) for group in by_gang(rows)] == [1, 1]


def test_nodes_that_are_not_known_are_not_counted() -> None:
    assert shown_nodes([None, "", "a"]) == "a"
    assert shown_nodes([None, ""]) == ""
    assert shown_nodes(["a", "b", "a"]) == "2 nodes"
    assert shown_pods([_refused(f"p{number}") for number in range(1501)]) == "p0 and 1,500 more"
