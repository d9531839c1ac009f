"""What keeps a pod off the nodes: every reason with the number of nodes that it stands against."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from descheduler.placement.framework.extension_points import Code, Obstacle, ReasonBits
from descheduler.placement.framework.scheduler import Evaluation, Scheduler
from descheduler.placement.shadow.node_masks import BoolMask

__all__ = ["Obstacles", "open_for_good", "refusal_sentence"]

_MOST_REASONS = 4
_MOST_COUNTED = 1 << 12
_NODE_PREFIX = "node(s) "
_SHORT = {
    "node(s) were unschedulable": "unschedulable",
    "node(s) had untolerated taint(s)": "untolerated taint",
    "node(s) exceed max volume count": "too many volumes",
}


class Obstacles:
    """All that the filters have against one pod, after `evaluation`."""

    def __init__(self, evaluation: Evaluation) -> None:
        self._evaluation = evaluation
        self._found = tuple(_found(evaluation))

    @property
    def is_undecided(self) -> bool:
        """Whether some node that does not take the pod might do so all the same, which a snapshot cannot tell."""
        if all(obstacle.code is not Code.UNDECIDED for obstacle, _ in self._found):
            return False
        refused = self._evaluation.feasible.copy()
        for obstacle, where in self._found:
            if obstacle.code is not Code.UNDECIDED:
                refused |= where
        return not bool(refused.all())

    def counts(self) -> dict[str, int]:
        """Reason → number of nodes, the most frequent first. A node counts for each of its reasons."""
        counts: dict[str, int] = {}
        for obstacle, where in self._found:
            number = int(np.count_nonzero(where))
            for reason in obstacle.reasons:
                counts[reason] = counts.get(reason, 0) + number
        return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))

    def of_others(self, plugins: frozenset[str]) -> BoolMask:
        """The nodes that some plugin refuses which is not among `plugins`."""
        refused = np.zeros(len(self._evaluation.feasible), dtype=bool)
        for obstacle, where in self._found:
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


def _found(evaluation: Evaluation) -> Iterator[tuple[Obstacle, BoolMask]]:
    """Each distinct thing against the pod, and the nodes that it stands against."""
    everywhere = np.ones(len(evaluation.feasible), dtype=bool)
    for obstacle in evaluation.refusals:
        yield obstacle, everywhere
    narrowed = evaluation.narrowed
    if narrowed is not None and not narrowed.all():
        yield evaluation.first_obstacle_on(int(np.argmin(narrowed))), ~narrowed
    for name, bits in evaluation.bits.items():
        for pattern in _patterns(bits):
            if pattern:
                where = bits == pattern
                found = evaluation.obstacles_on(int(np.argmax(where)))
                yield next(obstacle for obstacle in found if obstacle.plugin == name), where


def _patterns(bits: ReasonBits) -> list[int]:
    """The distinct values of `bits`."""
    if bits.max(initial=0) < _MOST_COUNTED:
        return [int(pattern) for pattern in np.flatnonzero(np.bincount(bits))]  # several times faster than sorting
    return [int(pattern) for pattern in np.unique(bits)]


def _shortened(reason: str) -> str:
    """A reason of the scheduler as part of a sentence about nodes."""
    reason = _SHORT.get(reason, reason).removeprefix(_NODE_PREFIX)
    return reason[:1].lower() + reason[1:]
