"""The table of objectives."""

from __future__ import annotations

from descheduler.planner.args import PlannerObjective
from descheduler.planner.objectives.table import OBJECTIVES


def test_every_objective_of_the_arguments_has_a_row() -> None:
    assert set(OBJECTIVES) == set(PlannerObjective.__struct_encode_fields__)
