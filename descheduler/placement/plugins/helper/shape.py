"""Shapes: scoring functions given by points, as arguments state them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Annotated

import msgspec
import numpy as np

from descheduler.documents.decode import Path
from descheduler.placement.configuration.kube_scheduler.plugin_args import ArgsBlock, Percent
from descheduler.placement.plugins.helper.score_arithmetic import Ints
from descheduler.policy.shared_args import Args

__all__ = ["ShapePoint", "ShapePointSection", "ratings_of", "read_shape", "shown_shape"]

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
