"""Levels of nodes, the most expensive first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from descheduler.model.node import Node
from descheduler.model.selection.labels import LabelError, LabelSelector
from descheduler.policy.shared_args import LabelSelectorArg, compile_selector
from descheduler.strategies.custom_priority.args import ResourcePriority

__all__ = ["Level", "levels_of"]


class Level(msgspec.Struct, frozen=True):
    """The nodes of one entry of `evictionOrder`; at least one."""

    name: str
    nodes: tuple[Node, ...]


def levels_of(order: Iterable[ResourcePriority], nodes: Sequence[Node]) -> list[Level]:
    """The levels of `order` that have some of `nodes`; each node is in the first whose selector it matches.

    Nothing matches a selector that is not valid.
    """
    selectors = {entry.name: _compiled(entry.node_selector) for entry in order}
    nodes_by_level: dict[str, list[Node]] = {name: [] for name in selectors}
    for node in nodes:
        matching = (name for name, each in selectors.items() if each is not None and each.matches(node.labels))
        if (first := next(matching, None)) is not None:
            nodes_by_level[first].append(node)
    return [Level(name, tuple(members)) for name, members in nodes_by_level.items() if members]


def _compiled(selector: LabelSelectorArg | None) -> LabelSelector | None:
    try:
        return compile_selector(selector)
    except LabelError:
        return None
