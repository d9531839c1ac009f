"""A linear program that is made column by column: OR-Tools' GLOP for prices, CP-SAT for whole numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from descheduler.optimizer.arrays import Floats, Ints

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

_WORK_OF_ITERATION = 2e-7
"""What an iteration of the simplex method takes for each row, in units of `Limits`."""


@dataclass(frozen=True, slots=True, eq=False)
class Relaxed:
    """The best solution in fractions: float64[columns] `values`, float64[rows] `prices` (the duals); its `work`."""

    values: Floats
    prices: Floats
    work: float


@dataclass(frozen=True, slots=True, eq=False)
class Whole:
    """A solution in whole numbers: int64[columns] `values`, and the `work` as in `Limits`."""

    values: Ints
    work: float


@dataclass(frozen=True, slots=True)
class _Column:
    gain: int
    most: int
    coefficients: Mapping[int, int]


class ColumnProgram:
    """Maximises the sum of gains, while each row, the sum of its columns' coefficients, stays within its limit.

    limits: int64[rows], 0 or more each, so that nothing at all is a solution. scale: the unit of prices and of values
    of columns, so many of the whole numbers that gains are given in.
    """

    def __init__(self, limits: Ints, scale: int) -> None:
        from ortools.linear_solver import pywraplp

        self._limits, self._scale = limits.tolist(), scale
        self._solver = pywraplp.Solver.CreateSolver("GLOP")
        self._solver.Objective().SetMaximization()
        infinity = self._solver.infinity()
        self._rows = [self._solver.Constraint(-infinity, float(limit)) for limit in self._limits]
        self._columns: list[_Column] = []
        self._variables: list[pywraplp.Variable] = []

    def add(self, gain: int, most: int, coefficients: Mapping[int, int]) -> int:
        """Adds a column that can be taken up to `most` times, with coefficients by row; its number."""
        variable = self._solver.NumVar(0.0, float(most), "")
        self._solver.Objective().SetCoefficient(variable, gain / self._scale)
        for row, coefficient in coefficients.items():
            self._rows[row].SetCoefficient(variable, float(coefficient))
        self._columns.append(_Column(gain, most, coefficients))
        self._variables.append(variable)
        return len(self._columns) - 1

    def relax(self, seconds: float) -> Relaxed | None:
        """The best solution in fractions; None: not found within `seconds`."""
        if seconds < float("inf"):
            self._solver.SetTimeLimit(max(int(1000 * seconds), 1))
        if self._solver.Solve() != self._solver.OPTIMAL:
            return None
        values = np.array([variable.solution_value() for variable in self._variables])
        prices = np.array([row.dual_value() for row in self._rows])
        return Relaxed(values, prices, self._solver.iterations() * len(self._rows) * _WORK_OF_ITERATION)

    def solve_whole(self, relaxed: Relaxed, most: int, *, seconds: float, work: float, seed: int) -> Whole:
        """The best until one of the limits of the columns that `relaxed` takes and those that lose least at its prices.

        These are `most` together, or all that it takes where they are more; columns may have been added since. It ends,
        too, where nothing is better by a `scale`. Nothing is taken where nothing was found.
        """
        from ortools.sat.python import cp_model

        model = cp_model.CpModel()
        hint = np.zeros(len(self._columns))
        hint[: len(relaxed.values)] = relaxed.values
        chosen = self._promising(hint, relaxed.prices, most).tolist()
        taken = {number: model.new_int_var(0, self._columns[number].most, "") for number in chosen}
        self._state_rows(model, taken)
        for number, variable in taken.items():
            model.add_hint(variable, int(hint[number] + 1e-6))
        model.maximize(sum(self._columns[number].gain * variable for number, variable in taken.items()))
        solver = self._solver_of_whole(seconds, work, seed)
        values = np.zeros(len(self._columns), np.int64)
        if solver.solve(model) in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            values[chosen] = [solver.value(variable) for variable in taken.values()]
        return Whole(values, solver.response_proto.deterministic_time)

    def _promising(self, values: Floats, prices: Floats, most: int) -> Ints:
        """The numbers of the columns, ascending."""
        lost = [
            sum(times * prices[row] for row, times in column.coefficients.items()) - column.gain / self._scale
            for column in self._columns
        ]
        is_taken = values > 1e-9
        order = np.argsort(np.where(is_taken, -np.inf, lost), kind="stable")
        return np.sort(order[: max(most, int(is_taken.sum()))])

    def _state_rows(self, model: cp_model.CpModel, taken: Mapping[int, cp_model.IntVar]) -> None:
        rows: list[list[cp_model.LinearExprT]] = [[] for _ in self._limits]
        for number, variable in taken.items():
            for row, times in self._columns[number].coefficients.items():
                rows[row].append(times * variable)
        for limit, terms in zip(self._limits, rows, strict=True):
            if terms:
                model.add(sum(terms) <= limit)

    def _solver_of_whole(self, seconds: float, work: float, seed: int) -> cp_model.CpSolver:
        from ortools.sat.python import cp_model

        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        # Its own handler would take Ctrl-C from the program during the solve, and leave none behind.
        solver.parameters.catch_sigint_signal = False
        solver.parameters.random_seed = seed
        solver.parameters.linearization_level = 2
        solver.parameters.absolute_gap_limit = 0.99 * self._scale
        solver.parameters.max_deterministic_time = work
        solver.parameters.max_time_in_seconds = max(seconds, 0.01)
        return solver
