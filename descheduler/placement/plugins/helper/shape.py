"""Shapes: scoring functions given by points, as arguments state them."""

from __future__ import annotations

from typing import Annotated

import msgspec

from descheduler.placement.configuration.kube_scheduler.plugin_args import Percent
from descheduler.policy.shared_args import Args

__all__ = ["ShapePointSection"]

_Score = Annotated[int, msgspec.Meta(ge=0, le=10)]


class ShapePointSection(Args, frozen=True):
    """One point of a shape."""

    utilization: Percent = 0
    """0 to 100."""
    score: _Score = 0
    """0 to 10."""
