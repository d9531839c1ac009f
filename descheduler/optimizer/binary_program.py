"""A bound on yes-or-no choices under linear limits, by CP-SAT."""

from __future__ import annotations

from collections.abc import Mapping
from math import floor

__all__ = ["BinaryProgram"]

_WORK = 3.0
"""The deterministic time of CP-SAT for one bound. What is proven by then is right, if not always exact."""


class BinaryProgram:
    """Choices that gain something each, of which some together take more than there is.

    gains: what each choice gains, whole numbers; the choices are named by their index.
    """

    def __init__(self, gains: list[int]) -> None:
        from ortools.sat.python import cp_model

        self._model = cp_model.CpModel()
        self._choices = [self._model.new_bool_var("") for _ in gains]
        self.gains = gains

    def limit(self, amounts: Mapping[int, int], most: int) -> None:
        """The amounts of the choices that are taken stay within `most` together. Amounts may be negative."""
        self._model.add(sum(amount * self._choices[index] for index, amount in amounts.items()) <= most)

    def most_gained(self) -> int | None:
        """No allowed choice gains more; None: nothing is allowed."""
        from ortools.sat.python import cp_model

        self._model.maximize(sum(gain * choice for gain, choice in zip(self.gains, self._choices, strict=True)))
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        # Its own handler would take Ctrl-C from the program during the solve, and leave none behind.
        solver.parameters.catch_sigint_signal = False
        solver.parameters.max_deterministic_time = _WORK
        if solver.solve(self._model) == cp_model.INFEASIBLE:
            return None
        return floor(solver.best_objective_bound + 1e-6)
