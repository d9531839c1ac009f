"""The nodes that take a pod, best first, with what each plugin gives them."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from descheduler.placement.framework.evaluation import Evaluation, ScoreTable
from descheduler.placement.framework.extension_points import ScoreError
from descheduler.report.explanation.placement import RankedNode

__all__ = ["Ranking", "rank"]

_MOST_NODES = 20


class Ranking(NamedTuple):
    """The best nodes in order, and the node that the pod leaves. `error` says why a pod cannot be scored."""

    nodes: tuple[RankedNode, ...] = ()
    margin: int | None = None
    error: str = ""


def rank(evaluation: Evaluation, source: str) -> Ranking:
    """The ranking of the feasible nodes; of equal totals in name order."""
    if not evaluation.fits:
        return Ranking()
    try:
        table = evaluation.scores()
    except ScoreError as error:
        return Ranking(error=str(error))
    choice = evaluation.choose()
    best = () if choice is None else choice.ties
    names = [evaluation.cycle.cluster.table.nodes[node].name for node in table.nodes.tolist()]
    # A stable sort of the negated totals keeps nodes of one total in name order.
    in_order = np.argsort(-table.totals, kind="stable").tolist()
    shown = [place for index, place in enumerate(in_order) if index < _MOST_NODES or names[place] == source]
    rows = tuple(_row(table, place, names[place], best, source) for place in shown)
    return Ranking(rows, None if choice is None else choice.margin)


def _row(table: ScoreTable, place: int, name: str, best: Collection[int], source: str) -> RankedNode:
    total = int(table.totals[place])
    return RankedNode(
        node=name,
        total=total,
        is_best=int(table.nodes[place]) in best,
        is_source=name == source,
        scores={plugin: int(scores.final[place]) for plugin, scores in table.by_plugin.items()},
    )
