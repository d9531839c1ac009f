"""The pending pods that a plan makes room for, as tables and JSON name them."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from descheduler.model.pod import Pod
from descheduler.plan.decisions import Decisions
from descheduler.report.formats.render import render
from descheduler.report.plan.making import make_plan
from descheduler.report.tables.table_style import TableStyle
from tests.builders import make_node, make_pod
from tests.planner.choosing import run_choosing

NODES = [make_node("a", cpu="6"), make_node("b", cpu="3")]


def pending(name: str, cpu: str) -> Pod:
    return make_pod(name, cpu=cpu, node=None, phase="Pending")


def planned(*waiting: Pod, **others: Any) -> Decisions:
    """Pod p of a has to move to b for a pod of 4 cores."""
    pods = [make_pod("p", cpu="2", node="a"), make_pod("fixed", cpu="1", node="a", owners=[])]
    return run_choosing("makeRoom", NODES, [*pods, *waiting], **others)


def table_of(decisions: Decisions, **style: Any) -> list[str]:
    """The lines about pending pods."""
    lines = "".join(render(make_plan(decisions), "table", TableStyle(**style))).splitlines()
    found = [number for number, line in enumerate(lines) if line.startswith("Pending pods that need evictions:")]
    return [line.rstrip() for line in lines[found[0] : lines.index("", found[0])]] if found else []


def test_each_pending_pod_has_the_node_that_it_can_be_scheduled_onto() -> None:
    decisions = planned(pending("large", "4"), pending("larger", "5500m"), chooses=False)

    assert table_of(decisions) == [
        "Pending pods that need evictions: 1 of 2 can be scheduled after them",
        "NAMESPACE   POD      TARGET",
        "default     large    a",
        "default     larger   pending",
    ]


def test_where_the_plan_chooses_nodes_it_is_said_for_which_pods_room_is_held() -> None:
    assert table_of(planned(pending("large", "4"), pending("larger", "5500m"))) == [
        "Pending pods that need evictions: 1 of 2 can be scheduled after them",
        "NAMESPACE   POD      TARGET    ROOM HELD",
        "default     large    a         yes",
        "default     larger   pending   no",
    ]


def test_pods_that_need_no_evictions_are_not_among_them() -> None:
    assert [line.split()[1] for line in table_of(planned(pending("large", "4"), pending("small", "1")))[2:]] == [
        "large"
    ]


def test_a_plan_without_evictions_has_no_such_table() -> None:
    assert table_of(planned(pending("larger", "5500m"))) == []


def test_only_wide_tables_list_very_many_pending_pods() -> None:
    decisions = planned(pending("large", "4"), *(pending(f"larger-{number}", "5500m") for number in range(20)))

    title, _, *rows = table_of(decisions)

    assert title == "Pending pods that need evictions: 1 of 21 can be scheduled after them; 20 shown, -o wide shows all"
    assert len(rows) == 20


def test_json_names_the_nodes_and_who_holds_room_there() -> None:
    goal = make_plan(planned(pending("large", "4"), pending("larger", "5500m"))).goal

    assert goal is not None
    found = json.loads(msgspec.json.encode(goal.objectives[0].pending_pods))
    assert [(each["pod"]["name"], each["to"], each["holdsTarget"]) for each in found] == [
        ("large", "a", True),
        ("larger", None, False),
    ]
