"""Scores as Go computes them on int64, with division cut toward zero and products that wrap."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Annotated, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from descheduler.documents.decode import Path
from descheduler.model.requests import CPU, EPHEMERAL_STORAGE, MEMORY
from descheduler.placement.configuration.kube_scheduler.plugin_args import ArgsBlock, Percent
from descheduler.placement.framework.extension_points import Scores
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.shadow.node_table import NodeTable
from descheduler.policy.shared_args import Args

MAX_SCORE = 100
"""The best score that a plugin may give to a node, before its weight."""

Ints = NDArray[np.int64]


_EXACT = 2**53
"""Below this, float64 holds every whole number, and a quotient that is cut is the one that integers have."""


Divide = Callable[[Ints, Ints | int], Ints]
"""The quotient cut toward zero. The denominator is positive."""


def exact_div(numerator: Ints, denominator: Ints | int) -> Ints:
    """As `tdiv`, for numerators that are known to be below 2^53 either way."""
    return (numerator / denominator).astype(np.int64)


def tdiv(numerator: Ints, denominator: Ints | int) -> Ints:
    """The quotient cut toward zero, where `//` rounds down. The denominator is positive."""
    if _is_exact(numerator):
        # Several times faster than dividing integers. A denominator that float64 rounds is greater than the numerator
        # before and after, so that the quotient is cut to 0 as it should be.
        return exact_div(numerator, denominator)
    quotient = np.abs(numerator) // denominator
    return np.where(numerator < 0, -quotient, quotient)


def _is_exact(numbers: Ints) -> bool:
    """Whether float64 holds each of `numbers`; without a sign, those below 0 are beyond all others."""
    return _greatest(numbers) < _EXACT or _greatest(numbers + _EXACT) < 2 * _EXACT


def _greatest(numbers: Ints) -> int:
    unsigned = numbers.reshape(-1).view(np.uint64)
    return int(unsigned[unsigned.argmax()]) if len(unsigned) else 0


def highest_of(raw: Ints, feasible: BoolMask) -> int:
    """The highest of `raw` over the feasible nodes; 0 where none is above that."""
    found = raw * feasible
    return max(0, int(found[found.argmax()])) if len(found) else 0


def normalize(raw: Ints, highest: int, *, is_reversed: bool = False) -> Ints:
    """Scores in proportion to `highest`, that of the feasible nodes, or 100 minus that; all zeros stay, or become 100.

    `DefaultNormalizeScore` of `pkg/scheduler/framework/plugins/helper/normalize_score.go` (1.36).
    """
    scores = tdiv(raw * MAX_SCORE, highest) if highest else np.zeros_like(raw)
    return MAX_SCORE - scores if is_reversed else scores


_MOST_KEPT = 8


class NormalizedScores:
    """`raw` is by node. Scores are kept for some of the values that were the highest."""

    __slots__ = ("_best", "_is_reversed", "_kept", "_raw", "_top")

    def __init__(self, raw: Ints, *, is_reversed: bool = False) -> None:
        self._raw = raw
        self._is_reversed = is_reversed
        self._best = int(raw.argmax()) if len(raw) else 0
        self._top = max(0, int(raw[self._best])) if len(raw) else 0
        self._kept: dict[int, Scores] = {}

    def among(self, feasible: BoolMask) -> Scores:
        """The scores when the pod goes to one of the `feasible` nodes."""
        # Mostly a node that has the most may be taken, and nothing has to be compared.
        highest = self._top if not self._top or feasible[self._best] else highest_of(self._raw, feasible)
        known = self._kept.get(highest)
        if known is None:
            if len(self._kept) >= _MOST_KEPT:
                self._kept.clear()
            final = normalize(self._raw, highest, is_reversed=self._is_reversed)
            level = int(final[0]) if not self._top and len(final) else None
            known = self._kept[highest] = Scores(final, lambda: self._raw, level)
        return known


class ScoredResource(NamedTuple):
    """One resource, by node: `allocatable` is at least 1, and `is_available` says where it is more than that stopgap.

    `is_available` is None where every node has the resource, which is the rule for cpu and memory.
    """

    row: int
    allocatable: NDArray[np.int64]
    is_available: BoolMask | None


def scored_resource(table: NodeTable, name: str) -> ScoredResource:
    """A counted resource as the nodes have it."""
    row = table.row(name)
    allocatable = table.allocatable[row]
    is_available = allocatable > 0
    return ScoredResource(row, np.maximum(allocatable, 1), None if is_available.all() else is_available)


def is_scored_unasked(name: str) -> bool:
    """Whether a resource is scored even for pods that ask for none of it, unlike extended ones and hugepages."""
    return name in (CPU, MEMORY, EPHEMERAL_STORAGE)


_Score = Annotated[int, msgspec.Meta(ge=0, le=10)]
_SCALE = 10
"""A shape's scores go from 0 to 10."""


class ShapePointSection(Args, frozen=True):
    """One point of a shape."""

    utilization: Percent = 0
    """0 to 100."""
    score: _Score = 0
    """0 to 10."""


class ShapePoint(msgspec.Struct, frozen=True):
    """One point of a scoring function: the score, 0 to 10, at a utilization in percent."""

    utilization_percent: int
    score: int


def read_shape(block: ArgsBlock, points: Sequence[ShapePointSection], path: Path) -> tuple[ShapePoint, ...]:
    """The shape that stands at `path`; what is wrong with it is recorded."""
    if not points:
        block.fail(path, "is empty; give at least one point, such as {utilization: 0, score: 10}")
    for index, (before, point) in enumerate(pairwise(points), start=1):
        if before.utilization >= point.utilization:
            message = (
                f"{point.utilization} is not above {before.utilization}, that of the point before; sort the points"
            )
            block.fail((*path, index, "utilization"), message)
            break
    return tuple(ShapePoint(point.utilization, point.score) for point in points)


def shown_shape(shape: Sequence[ShapePoint]) -> list[dict[str, int]]:
    """`shape` in the spelling of the document."""
    return [{"utilization": point.utilization_percent, "score": point.score} for point in shape]


def ratings_of(shape: Sequence[ShapePoint]) -> Ints:
    """The score, 0 to 100, at each utilization from 0 to 100 percent."""
    return np.array([_at(shape, percent) for percent in range(101)], dtype=np.int64)


def _at(shape: Sequence[ShapePoint], percent: int) -> int:
    """The broken line through `shape` at a utilization, each step cut toward zero; flat beyond its ends."""
    if percent <= shape[0].utilization_percent:
        return shape[0].score * _SCALE
    for left, right in pairwise(shape):
        if percent <= right.utilization_percent:
            rise = (right.score - left.score) * _SCALE * (percent - left.utilization_percent)
            step = abs(rise) // (right.utilization_percent - left.utilization_percent)
            return left.score * _SCALE + (step if rise >= 0 else -step)
    return shape[-1].score * _SCALE
