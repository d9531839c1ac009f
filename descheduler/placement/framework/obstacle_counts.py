"""What keeps a pod off the nodes: every reason with the number of nodes that it closes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from descheduler.model.text.counted import most_first
from descheduler.placement.framework.evaluation import PodEvaluation
from descheduler.placement.framework.extension_points import ReasonBits
from descheduler.placement.framework.obstacle import Obstacle, cause_of
from descheduler.placement.shadow.node_masks import BoolMask

_MOST_REASONS = 4
_MOST_COUNTED = 1 << 12


class ObstacleCounts:
    """All that the filters have against one pod, after `evaluation`."""

    def __init__(self, evaluation: PodEvaluation) -> None:
        self._evaluation = evaluation
        self._found = tuple(_found(evaluation))

    @property
    def is_undecided(self) -> bool:
        """Whether some node that does not take the pod might do so all the same, which a snapshot cannot tell."""
        if not any(obstacle.is_open for obstacle, _ in self._found):
            return False
        refused = self._evaluation.feasible.copy()
        for obstacle, where in self._found:
            if not obstacle.is_open:
                refused |= where
        return not bool(refused.all())

    @property
    def cause(self) -> str:
        """The first thing that plugins cannot tell of some node, and their names; empty without any."""
        undecided = [obstacle for obstacle, _ in self._found if obstacle.is_open]
        return cause_of(undecided) if undecided else ""

    def by_reason(self) -> dict[str, int]:
        """Reason → number of nodes, the most frequent first. A node counts for each of its reasons."""
        return {reason: number for (reason, _), number in self._counted()}

    def sentence(self) -> str:
        """How many nodes take a pod, and why the others do not, as one sentence with the most frequent reasons."""
        shown = self.reasons
        available = f"{self._evaluation.num_nodes}/{len(self._evaluation.feasible)}"
        return f"{available} nodes are available for the replacement pod{f': {shown}' if shown else ''}"

    @property
    def reasons(self) -> str:
        """The most frequent reasons with their numbers of nodes, such as `2 insufficient cpu, 1 unschedulable`."""
        counted = self._counted()
        shown = [f"{number} {short}" for (_, short), number in counted[:_MOST_REASONS]]
        return ", ".join([*shown, "and others"] if len(counted) > _MOST_REASONS else shown)

    def _counted(self) -> list[tuple[tuple[str, str], int]]:
        """(Reason in words of events, and of sentences) and the number of nodes, the most frequent first."""
        counts: Counter[tuple[str, str]] = Counter()
        for obstacle, where in self._found:
            number = int(np.count_nonzero(where))
            for words in zip(obstacle.reasons, obstacle.short, strict=True):
                counts[words] += number
        return most_first(counts)

    def of_others(self, plugins: frozenset[str]) -> BoolMask:
        """The nodes that some plugin refuses which is not among `plugins`."""
        return self._evaluation.closed_by_others(plugins)


def _found(evaluation: PodEvaluation) -> Iterator[tuple[Obstacle, BoolMask]]:
    """Each distinct obstacle of the pod, and the nodes that it closes."""
    everywhere = np.ones(len(evaluation.feasible), dtype=bool)
    for obstacle in evaluation.refusals:
        yield obstacle, everywhere
    narrowed = evaluation.narrowing.nodes
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
