"""What became of a snapshot: the figures by which balancing tools are compared, and their table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from descheduler.optimizer import Limits
from descheduler.optimizer.arrays import Ints
from tests.worlds.arrays import ArrayWorld

_COLUMNS = ("evictions", "nodes over", "pending", "max CPU", "max memory", "sd CPU", "sd memory")
_WIDTH = 34


@dataclass(frozen=True, slots=True)
class Outcome:
    """Evictions, nodes over their target, pods without a node, and each resource's utilisation of all nodes, in 0-1."""

    num_evictions: int
    num_over: int
    num_pending: int
    largest: tuple[float, float]
    deviation: tuple[float, float]


def outcome_of(world: ArrayWorld, assignment: Ints, num_evictions: int) -> Outcome:
    """The figures of `assignment` (int64[P]); a pod at -1 found no node."""
    usage = world.problem.usage(assignment)
    ratio = usage / world.problem.capacity
    largest, deviation = ratio.max(axis=0).tolist(), ratio.std(axis=0).tolist()
    return Outcome(
        num_evictions,
        int((usage > world.ceiling).any(axis=1).sum()),
        int((assignment < 0).sum()),
        (largest[0], largest[1]),
        (deviation[0], deviation[1]),
    )


def table(title: str, tools: Mapping[str, Sequence[Outcome]]) -> str:
    """A row a tool, means over all snapshots but for the largest utilisation."""
    head = f"{title:<{_WIDTH}}" + "".join(f"{column:>12}" for column in _COLUMNS)
    return "\n".join([head, *(_row(name, outcomes) for name, outcomes in tools.items())])


def _row(name: str, outcomes: Sequence[Outcome]) -> str:
    return f"  {name:<{_WIDTH - 2}}" + "".join(f"{text:>12}" for text in _cells(outcomes))


def _cells(outcomes: Sequence[Outcome]) -> Iterator[str]:
    for figure in ("num_evictions", "num_over", "num_pending"):
        yield f"{np.mean([getattr(outcome, figure) for outcome in outcomes]):.1f}"
    for resource in (0, 1):
        yield f"{max(outcome.largest[resource] for outcome in outcomes):.1%}"
    for resource in (0, 1):
        yield f"{np.mean([outcome.deviation[resource] for outcome in outcomes]):.2%}"


def limit_text(limits: Limits) -> str:
    """Such as `10 s`, or `2 units of work`."""
    return f"{limits.work:g} units of work" if limits.seconds is None else f"{limits.seconds:g} s"
