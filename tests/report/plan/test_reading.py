"""What is checked of the plan in a file before it is looked at."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from descheduler.report.plan.reading import PlanFileError, read_plan
from tests.report.decided_cycles import make_test_plan

MOST_NODES = 300_000


def plan_of_nodes(number: int, directory: Path) -> Path:
    """A plan whose groups have so many nodes that stay as they are, all in the first step."""
    plan = msgspec.json.decode(msgspec.json.encode(make_test_plan()))
    first, *others = plan["figures"]["groups"]
    first["unchanged"] = {"cpu": [number] + [0] * 20}
    for other in others:
        other["unchanged"] = {}
    file = directory / "plan.json"
    file.write_bytes(msgspec.json.encode(plan))
    return file


def test_plan_is_drawn_up_to_the_largest_number_of_nodes(tmp_path: Path) -> None:
    (group, *_) = read_plan(plan_of_nodes(MOST_NODES, tmp_path)).figures.groups

    assert sum(group.unchanged["cpu"]) == MOST_NODES
    with pytest.raises(PlanFileError, match="do not hold the nodes of a cluster"):
        read_plan(plan_of_nodes(MOST_NODES + 1, tmp_path))
