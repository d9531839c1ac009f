"""What keeps a pod off the nodes: every reason with the number of nodes that it stands against."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from descheduler.placement.framework import BoolMask, Code, Obstacle
from descheduler.placement.scheduling import Evaluation, Scheduler

__all__ = ["count_obstacles", "is_undecided", "open_for_good", "refusal_sentence", "rejected_by_others"]

_MOST_REASONS = 4
_NODE_PREFIX = "node(s) "
_SHORT = {
    "node(s) were unschedulable": "unschedulable",
    "node(s) had untolerated taint(s)": "untolerated taint",
    "node(s) exceed max volume count": "too many volumes",
}


def count_obstacles(evaluation: Evaluation) -> dict[str, int]:
    """Reason → number of nodes, the most frequent first. A node counts for each of its reasons."""
    counts: dict[str, int] = {}
    for obstacle, where in _obstacles(evaluation):
        number = int(where.sum())
        for reason in obstacle.reasons:
            counts[reason] = counts.get(reason, 0) + number
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def is_undecided(evaluation: Evaluation) -> bool:
    """Whether some node might take the pod that none is known to take."""
    refused = np.zeros(len(evaluation.feasible), dtype=bool)
    for obstacle, where in _obstacles(evaluation):
        if obstacle.code is not Code.UNDECIDED:
            refused |= where
    return not bool((refused | evaluation.feasible).all())


def rejected_by_others(evaluation: Evaluation, plugins: frozenset[str]) -> BoolMask:
    """The nodes that some plugin refuses which is not among `plugins`."""
    refused = np.zeros(len(evaluation.feasible), dtype=bool)
    for obstacle, where in _obstacles(evaluation):
        if obstacle.plugin not in plugins:
            refused |= where
    return refused


def open_for_good(scheduler: Scheduler, evaluation: Evaluation) -> BoolMask:
    """The nodes that no plugin closes to the pod whatever is moved: all others never take it."""
    is_open = np.full(len(evaluation.feasible), not evaluation.refusals)
    if evaluation.narrowed is not None:
        is_open &= evaluation.narrowed
    for name, bits in evaluation.bits.items():
        if scheduler.filters[name].is_static:
            is_open &= bits == 0
    return is_open


def refusal_sentence(counts: Mapping[str, int], num_nodes: int) -> str:
    """Why none of `num_nodes` takes a pod, as one sentence with the most frequent reasons."""
    shown = [f"{number} {_shortened(reason)}" for reason, number in list(counts.items())[:_MOST_REASONS]]
    if len(counts) > _MOST_REASONS:
        shown.append("and others")
    reasons = f": {', '.join(shown)}" if shown else ""
    return f"0 of {num_nodes} nodes take its replacement{reasons}"


def _obstacles(evaluation: Evaluation) -> Iterator[tuple[Obstacle, BoolMask]]:
    """Each distinct thing against the pod, and the nodes that it stands against."""
    everywhere = np.ones(len(evaluation.feasible), dtype=bool)
    for obstacle in evaluation.refusals:
        yield obstacle, everywhere
    narrowed = evaluation.narrowed
    if narrowed is not None and not narrowed.all():
        yield evaluation.first_obstacle_on(int(np.argmin(narrowed))), ~narrowed
    for name, bits in evaluation.bits.items():
        for pattern in np.unique(bits):
            if pattern:
                where = bits == pattern
                found = evaluation.obstacles_on(int(np.argmax(where)))
                yield next(obstacle for obstacle in found if obstacle.plugin == name), where


def _shortened(reason: str) -> str:
    """A reason of the scheduler as part of a sentence about nodes."""
    reason = _SHORT.get(reason, reason).removeprefix(_NODE_PREFIX)
    return reason[:1].lower() + reason[1:]
