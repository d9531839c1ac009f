"""When a simulation ends: the policy has settled, repeats itself, or has no cycle left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from descheduler.cycle.recent_moves import longest_window
from descheduler.model.verdict import Reason
from descheduler.plan.decisions import Decisions
from descheduler.plan.run_memory import RunMemory
from descheduler.plan.staying import staying_pods
from descheduler.report.simulation_document import Ending
from descheduler.simulation.repetition import Found, repeated_from

__all__ = ["ending_of", "waiting_pods"]

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
