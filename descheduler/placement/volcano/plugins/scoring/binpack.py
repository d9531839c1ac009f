"""Plugin binpack: nodes that are fuller once they hold the task score higher."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from descheduler.model.requests import CPU, MEMORY
from descheduler.placement.configuration.volcano import PluginOption
from descheduler.placement.configuration.volcano_arguments import Arguments
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.volcano.jobs import Task
from descheduler.placement.volcano.session import Session
from descheduler.placement.volcano.tiers import Callbacks

__all__ = ["start"]

_MOST = 100


def start(session: Session, option: PluginOption) -> Callbacks:
    """The score, unless its weight is 0."""
    weight = option.arguments.whole("binpack.weight", 1)
    weights = _weights(option.arguments)
    nodes = session.nodes

    def score(task: Task, among: BoolMask) -> NDArray[np.float64]:
        total, sum_of_weights = np.zeros(len(among)), 0
        fits = np.ones(len(among), dtype=bool)
        for name, amount in task.request.items():
            own = weights.get(name)
            if own is None or not amount:
                continue
            row = nodes.rows[name]
            filled = nodes.used[row] + amount
            has_some = nodes.allocatable[row] > 0
            if own:
                fits &= (filled <= nodes.allocatable[row]) | ~has_some
            part = np.divide(filled, nodes.allocatable[row], out=np.zeros(len(among)), where=has_some)
            total += own * part
            sum_of_weights += own
        if not sum_of_weights:
            return np.zeros(len(among))
        scores: NDArray[np.float64] = np.where(fits, total / sum_of_weights * _MOST * weight, 0.0)
        return scores

    return Callbacks(node_order=score) if weight else Callbacks()


def _weights(arguments: Arguments) -> dict[str, int]:
    """Resource → weight; those below 0 count as 1."""
    listed = {name: f"binpack.resources.{name}" for name in arguments.names("binpack.resources")}
    keys = {CPU: "binpack.cpu", MEMORY: "binpack.memory", **listed}
    found = {name: arguments.whole(key, 1) for name, key in keys.items()}
    return {name: 1 if weight < 0 else weight for name, weight in found.items()}
