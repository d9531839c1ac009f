"""The counts of both programs as text."""

from __future__ import annotations

from collections.abc import Iterator

from tests.e2e.closed_loop.outcome import Outcome
from tests.e2e.closed_loop.scenario import Scenario

_NAME_WIDTH = 62
_FIGURES = ("evicted", "pending", "returned")


def heading() -> str:
    """The names of the columns, in two lines."""
    sides = "".join(f"  {side:<26}" for side in ("upstream", "ours"))
    names = "  ".join(" ".join(f"{name:>8}" for name in _FIGURES) for _ in range(2))
    return f"{'':<{_NAME_WIDTH + 5}}{sides.rstrip()}\n{'scenario':<{_NAME_WIDTH}} hole  {names}"


def row(scenario: Scenario, theirs: Outcome, mine: Outcome) -> str:
    """The line of one scenario; a dash stands for a harm that is no hole of `nodeFit`."""
    hole = "-" if scenario.hole is None else str(int(scenario.hole))
    return f"{scenario.name:<{_NAME_WIDTH}} {hole:>4}  {_figures(theirs)}  {_figures(mine)}"


def total(rows: list[tuple[Outcome, Outcome]]) -> str:
    """The last line: all evictions, and what became of them."""
    theirs, mine = (_sum(side) for side in zip(*rows, strict=True))
    return f"{f'{len(rows)} scenarios':<{_NAME_WIDTH}} {'':>4}  {_figures(theirs)}  {_figures(mine)}"


def _sum(outcomes: tuple[Outcome, ...]) -> Outcome:
    return Outcome(
        sum(each.num_evicted for each in outcomes),
        sum(each.num_pending for each in outcomes),
        sum(each.num_returned for each in outcomes),
    )


def _figures(outcome: Outcome) -> str:
    return " ".join(f"{number:>8}" for number in _numbers(outcome))


def _numbers(outcome: Outcome) -> Iterator[int]:
    yield outcome.num_evicted
    yield outcome.num_pending
    yield outcome.num_returned
