"""Which nodes DrainNodes is about, by name, by labels, by conditions and by a file."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.documents.source import read_lines
from descheduler.planner.args import MigrationPlannerArgs, PlannerObjective
from descheduler.planner.objective_args import DrainNodesArgs
from descheduler.planner.objectives.draining.drained_nodes import (
    cordoned_nodes,
    file_problems,
    named_nodes,
    selected_nodes,
    unmatched_text,
)
from descheduler.policy.plugin import SchedulerFile
from tests.builders import make_node

NODES = [
    make_node("a", labels={"pool": "old"}),
    make_node("b", conditions=["MaintenancePlanned"]),
    make_node("c", labels={"pool": "new"}),
]
OLD: Any = {"matchLabels": {"pool": "old"}}


@pytest.mark.parametrize(
    ("args", "names"),
    [
        pytest.param(DrainNodesArgs(("a", "x")), {"a"}, id="by name"),
        pytest.param(DrainNodesArgs(node_selector=OLD), {"a"}, id="by labels"),
        pytest.param(DrainNodesArgs(conditions=("MaintenancePlanned", "Other")), {"b"}, id="by a condition"),
        pytest.param(DrainNodesArgs(conditions=("Other",)), set(), id="by a condition that none has"),
        pytest.param(
            DrainNodesArgs(("c",), node_selector=OLD, conditions=("MaintenancePlanned",)), set("abc"), id="all"
        ),
        pytest.param(DrainNodesArgs(), set(), id="by nothing"),
    ],
)
def test_nodes_are_selected_by_any_of_the_arguments(args: DrainNodesArgs, names: set[str]) -> None:
    assert selected_nodes(args, NODES, {}) == names


@pytest.mark.parametrize(
    ("selector", "text"),
    [
        (OLD, ""),
        (None, ""),
        ({"matchLabels": {"pool": "x"}}, "drainNodes.nodeSelector (pool in (x)): 0 of 3 nodes match"),
    ],
)
def test_a_selector_that_no_node_matches_is_said(selector: Any, text: str) -> None:
    assert unmatched_text(DrainNodesArgs(node_selector=selector), NODES) == text


def test_nodes_are_cordoned_that_an_objective_drains_which_is_to_cordon_them() -> None:
    drains = [DrainNodesArgs(("a",), cordon=True), DrainNodesArgs(("b",)), DrainNodesArgs(("c",), cordon=True)]
    args = MigrationPlannerArgs((PlannerObjective(), *(PlannerObjective(drain_nodes=drain) for drain in drains)))

    assert cordoned_nodes(args, NODES, {}) == {"a", "c"}


def listed(folder: Any, text: str) -> SchedulerFile:
    path = folder / "nodes.txt"
    path.write_text(text)
    return SchedulerFile(str(path), read_lines(path, "nodes.txt", "node list"), "")


def test_a_file_names_nodes_as_kubectl_prints_them(tmp_path: Any) -> None:
    file = listed(tmp_path, "node/a\nc\n")

    found = list(named_nodes(DrainNodesArgs(("b",), nodes_file="f"), {"f": file}))

    assert [each.name for each in found] == ["b", "a", "c"]
    assert [each.place for each in found] == ["drainNodes.nodes", "nodes.txt:1", "nodes.txt:2"]
    assert selected_nodes(DrainNodesArgs(nodes_file="f"), NODES, {"f": file}) == {"a", "c"}
    assert list(named_nodes(DrainNodesArgs(nodes_file="g"), {"f": file})) == []


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        pytest.param("a\nnode/b\n", [], id="names"),
        pytest.param("", ["nodes.txt: names no node; write the name of one node on each line"], id="none"),
        pytest.param(
            "a\nB_\n",
            ["nodes.txt:2: 'B_' is not the name of a node; write one name on each line"],
            id="what is not a name",
        ),
    ],
)
def test_what_is_wrong_with_a_file_is_said_with_its_line(tmp_path: Any, text: str, faults: list[str]) -> None:
    file = listed(tmp_path, text)
    drain = PlannerObjective(drain_nodes=DrainNodesArgs(nodes_file="f"))
    args = MigrationPlannerArgs((PlannerObjective(drain_nodes=DrainNodesArgs(("a",))), drain))

    found = file_problems(args, lambda path, lists_nodes=False: file)

    assert [problem.message for problem in found] == faults
    assert {problem.path for problem in found} <= {("objectives", 1, "drainNodes", "nodesFile")}
