"""When a simulation ends: the policy has settled, repeats itself, or has no cycle left.

Where a cycle repeats an earlier one, workloads go back and forth.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence

import msgspec

from descheduler.cycle.recent_moves import longest_window
from descheduler.eviction.migration_controller.workloads import WorkloadIds
from descheduler.model.verdict import Reason
from descheduler.plan.decisions import Decisions
from descheduler.plan.run_memory import RunMemory
from descheduler.plan.staying import staying_pods
from descheduler.report.simulation_document import BackAndForth, Ending, SimulatedMove

_PASSING = frozenset(
    {
        Reason.WINDOW,
        Reason.BLACKOUT,
        Reason.COOLDOWN,
        Reason.MOVES_PER_WINDOW,
        Reason.PING_PONG,
        Reason.TOO_YOUNG,
        Reason.TOO_FEW_OBSERVATIONS,
        Reason.ALREADY_MIGRATING,
        Reason.MIGRATING_LIMIT,
    }
)
"""Refusals that end with time, whatever else happens."""


def ending_of(decisions: Decisions, memory: RunMemory, found: Sequence[Found], *, cycles_left: int) -> Ending | None:
    """How it ends where the latest run, which began with `memory`, takes `decisions`; None where it goes on.

    `found` is what it and the runs before it found. A run that evicts nothing is the last one unless something passes:
    a refusal, or what plugins count from run to run, such as for how many a node is overutilized. Where earlier moves
    count (`moveHistory`), a cycle that is repeated may end all the same.
    """
    if not decisions.leaving:
        is_waiting = bool(waiting_pods(decisions))
        if cycles_left and (is_waiting or _texts(decisions.memory) != _texts(memory)):
            return None
        return "waits" if is_waiting else "converges"
    if repeated_from(found) is not None and longest_window(decisions.policy) is None:
        return "repeats"
    return None if cycles_left else "unfinished"


def waiting_pods(decisions: Decisions) -> Mapping[str, int]:
    """How many of the selected pods are kept for now alone, by reason code."""
    reasons = (each.first.verdict.reason for each in staying_pods(decisions))
    return dict(Counter(reason.code for reason in reasons if reason in _PASSING).most_common())


def _texts(memory: RunMemory) -> Mapping[str, bytes]:
    return {key: note.text for key, note in memory.notes.items() if note.text}


class Found(msgspec.Struct, frozen=True):
    """What a cycle found, and what it evicts there.

    Pods that have come since the start are alike but for their ages: `replacements` counts them by workload and node.
    Of the pods of the start `num_originals` are left, which only go, and `num_bound` of them have a node, which they
    only get. So two cycles that agree have seen the same cluster. `evicted` counts pods by workload and node, and has
    each pod of the start by its UID.
    """

    num_originals: int
    num_bound: int
    replacements: Mapping[tuple[str, str], int]
    evicted: Mapping[tuple[str, str], int]


def found_by(decisions: Decisions, originals: Container[str]) -> Found:
    """What the cycle of `decisions` found and evicts; `originals` are the UIDs of the pods of the start."""
    ids = WorkloadIds(decisions.snapshot)
    old = [pod for pod in decisions.snapshot.pods if pod.uid in originals]
    new = [pod for pod in decisions.snapshot.pods if pod.uid not in originals]
    leaving = (move.pod for move in decisions.leaving)
    return Found(
        num_originals=len(old),
        num_bound=sum(bool(pod.node_name) for pod in old),
        replacements=Counter((ids.of(pod).key, pod.node_name) for pod in new),
        evicted=Counter((pod.uid if pod.uid in originals else ids.of(pod).key, pod.node_name) for pod in leaving),
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
