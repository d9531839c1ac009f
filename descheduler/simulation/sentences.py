"""What came of a simulation, in one sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from descheduler.model.text.counted import counted
from descheduler.report.simulation_document import BackAndForth, ClusterFigures, Ending, SimulatedCycle

__all__ = ["sentence_of"]

_MOST_NAMED = 3
_WAY_OUT = "enable PlacementVerification with requireGain: true, which blocks evictions that gain nothing"


def sentence_of(
    ending: Ending,
    cycles: Sequence[SimulatedCycle],
    end: ClusterFigures,
    back_and_forth: Sequence[BackAndForth],
    waiting: Mapping[str, int],
    *,
    requires_gain: bool,
) -> str:
    """One sentence on `cycles`, after which the cluster is as in `end`; without gain a policy may go on for ever."""
    evictions = counted(sum(cycle.evictions for cycle in cycles), "eviction")
    totals = f"{evictions}, {_left(end)}"
    latest = max((cycle.cycle for cycle in cycles if cycle.evictions), default=0)
    match ending:
        case "converges" if latest == 0:
            return f"nothing is evicted, {_left(end)}"
        case "converges":
            return f"converges after {counted(latest, 'cycle')}: {totals}"
        case "waits":
            return f"nothing is evicted {_since(latest)}, but {_waiting(waiting)}: {totals}"
        case "repeats":
            in_cycles = f"{evictions} in {counted(len(cycles), 'cycle')}, {_left(end)}"
            way_out = "" if requires_gain else f"; {_WAY_OUT}"
            return f"does not converge: {_repeats(back_and_forth, cycles)}; {in_cycles}{way_out}"
        case "unfinished":
            return f"has not converged after {counted(len(cycles), 'cycle')}: {totals}; {_busiest(cycles)}"


def _left(end: ClusterFigures) -> str:
    """What is left to do in the end."""
    unknown = f" ({end.unknown:,} of them unknown)" if end.unknown else ""
    pending = f"{counted(end.pending, 'pod')} pending{unknown}"
    over = end.nodes_over_target
    return pending if over is None else f"{pending}, {counted(over, 'node')} over target"


def _since(latest: int) -> str:
    return f"after cycle {latest}" if latest else "so far"


def _waiting(waiting: Mapping[str, int]) -> str:
    number = sum(waiting.values())
    codes = ", ".join(f"{code} {each:,}" for code, each in waiting.items())
    return f"{counted(number, 'pod')} {'is' if number == 1 else 'are'} not evicted yet ({codes})"


def _repeats(back_and_forth: Sequence[BackAndForth], cycles: Sequence[SimulatedCycle]) -> str:
    """Who moves without end. In a cycle that is repeated every workload comes back to where it was."""
    shown = "; ".join(f"pods of {each.workload} {_path(each)}" for each in back_and_forth[:_MOST_NAMED])
    first = back_and_forth[0].from_cycle if back_and_forth else len(cycles)
    more = len(back_and_forth) - _MOST_NAMED
    others = f"; and pods of {counted(more, 'more workload')}" if more > 0 else ""
    return f"from cycle {first} on, {shown or 'the same pods are evicted again'}{others}"


def _path(each: BackAndForth) -> str:
    nodes = f"{' and '.join(each.nodes)}" if len(each.nodes) < _MOST_NAMED else f"{len(each.nodes):,} nodes"
    if each.returned == each.evictions:
        return (
            f"are evicted from {nodes} and scheduled onto the same {'nodes' if len(each.nodes) > 1 else 'node'} again"
        )
    return f"go back and forth between {nodes}"


def _busiest(cycles: Sequence[SimulatedCycle]) -> str:
    moved = Counter(move.workload for cycle in cycles for move in cycle.moves)
    named = ", ".join(f"{workload} ({number:,})" for workload, number in moved.most_common(_MOST_NAMED))
    return f"most evictions: {named}"
