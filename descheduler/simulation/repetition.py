"""Whether a cycle repeats an earlier one, and which workloads go back and forth then."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from descheduler.eviction.migration_controller.workload_ids import WorkloadIds
from descheduler.plan.decisions import Decisions
from descheduler.report.simulation_document import BackAndForth, SimulatedMove

__all__ = ["Found", "back_and_forth", "found_by", "repeated_from"]


class Found(msgspec.Struct, frozen=True):
    """What a cycle found, and what it evicts there: pods of each workload by node, whatever their names and ages."""

    pods: Mapping[tuple[str, str], int]
    evicted: Mapping[tuple[str, str], int]


def found_by(decisions: Decisions) -> Found:
    """What the cycle of `decisions` found and evicts."""
    ids = WorkloadIds(decisions.snapshot)
    pods = (pod for pod in decisions.snapshot.pods if not pod.is_terminal)
    return Found(
        Counter((ids.of(pod).key, pod.node_name) for pod in pods),
        Counter((ids.of(move.pod).key, move.pod.node_name) for move in decisions.leaving),
    )


def repeated_from(cycles: Sequence[Found]) -> int | None:
    """The latest cycle that the last one of `cycles` repeats, counted from 1; None where it repeats none."""
    *earlier, last = cycles
    alike = (number for number in range(len(earlier), 0, -1) if earlier[number - 1] == last)
    return next(alike, None) if last.evicted else None


def back_and_forth(cycles: Sequence[Sequence[SimulatedMove]], first: int) -> tuple[BackAndForth, ...]:
    """The workloads that leave nodes and come to them again in `cycles`, the first of which is cycle number `first`.

    Those that lose most pods come first.
    """
    moves: dict[str, list[SimulatedMove]] = {}
    for cycle in cycles:
        for move in cycle:
            moves.setdefault(move.workload, []).append(move)
    found = [
        BackAndForth(
            workload=workload,
            nodes=nodes,
            from_cycle=first,
            evictions=len(its),
            returned=sum(move.from_node == move.to_node for move in its),
        )
        for workload, its in moves.items()
        if (nodes := tuple(_left_and_reached(its)))
    ]
    return tuple(sorted(found, key=lambda each: (-each.evictions, each.workload)))


def _left_and_reached(moves: Sequence[SimulatedMove]) -> Iterator[str]:
    left, reached = {move.from_node for move in moves}, {move.to_node for move in moves}
    return iter(sorted(left & reached))
