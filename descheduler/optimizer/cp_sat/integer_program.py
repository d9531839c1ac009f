"""A bound on choices of whole numbers under linear limits, by CP-SAT."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import floor, gcd
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

_LEAST_SHARE = 0.1
"""Of the work for all bounds, what each of them may take however much the others took."""


class IntegerProgram:
    """Choices that gain something each, of which some together take more than there is. They are named by a number.

    `work` is the deterministic time of CP-SAT for all bounds. What is proven by then is right, if not always exact.
    With `restarts` the solver changes its strategy and starts again often. That proves more where there are many
    choices of whole numbers that a few limits tie together.
    """

    def __init__(self, work: float, *, restarts: bool = False) -> None:
        from ortools.sat.python import cp_model

        self._model = cp_model.CpModel()
        self._choices: list[cp_model.IntVar] = []
        self._work_left, self._least_work = work, _LEAST_SHARE * work
        self.spent = 0.0
        """The work of all bounds so far."""
        self._restarts = restarts
        self.taken: tuple[int, ...] = ()
        """How much of each choice is taken by the best choices that are known; empty before any are."""
        self._are_allowed = False
        """Whether `taken` keeps all limits."""

    def choose(self, most: int = 1) -> int:
        """One more choice, of 0 to `most`."""
        self._choices.append(self._model.new_int_var(0, most, ""))
        return len(self._choices) - 1

    def limit(self, amounts: Mapping[int, int], most: int) -> None:
        """The amounts of the choices that are taken stay within `most` together. Amounts may be negative."""
        self._are_allowed = self._are_allowed and _gained(amounts, self.taken) <= most
        step = gcd(*amounts.values()) or 1
        self._model.add(self._sum({index: amount // step for index, amount in amounts.items()}) <= most // step)

    def most_gained(self, gains: Mapping[int, int], *, begins_with_taken: bool = False) -> int | None:
        """No allowed choices gain more than this, by what each gains; None: nothing is allowed.

        begins_with_taken: the solver is told what is `taken`. It saves time where that gains nearly the most, and
        costs time elsewhere.
        """
        from ortools.sat.python import cp_model

        self._model.maximize(self._sum(gains))
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        # Its own handler would take Ctrl-C from the program during the solve, and leave none behind.
        solver.parameters.catch_sigint_signal = False
        # Bounds are of fractions: those of most rows are left out of them otherwise.
        solver.parameters.linearization_level = 2
        if self._restarts:
            solver.parameters.search_branching = cp_model.PORTFOLIO_WITH_QUICK_RESTART_SEARCH
        solver.parameters.max_deterministic_time = max(self._work_left, self._least_work)
        self._model.clear_hints()  # type: ignore[no-untyped-call] # of OR-Tools
        for choice, taken in zip(self._choices, self.taken, strict=False) if begins_with_taken else ():
            self._model.add_hint(choice, taken)
        status = solver.solve(self._model)
        self._work_left -= solver.response_proto.deterministic_time
        self.spent += solver.response_proto.deterministic_time
        if status == cp_model.INFEASIBLE:
            return None
        if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            found = tuple(solver.value(choice) for choice in self._choices)
            if not self._are_allowed or _gained(gains, found) > _gained(gains, self.taken):
                self.taken, self._are_allowed = found, True
        return floor(solver.best_objective_bound + 1e-6)

    def _sum(self, amounts: Mapping[int, int]) -> cp_model.LinearExprT:
        return sum(amount * self._choices[index] for index, amount in amounts.items())


def _gained(amounts: Mapping[int, int], taken: Sequence[int]) -> int:
    return sum(amount * taken[index] for index, amount in amounts.items())
