"""Which moves of a plan depend on each other: one takes room that another one leaves."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

from descheduler.optimizer.arrays import PENDING
from descheduler.optimizer.order.waves import Reassignment


def connected_moves(
    moves: Sequence[Reassignment], *, serves_others: Callable[[Reassignment], bool]
) -> list[list[Reassignment]]:
    """`moves` in groups, the connected components of moves that share a node which some pod leaves.

    A node that pods only arrive on ties none of them: it has room for each alone. A move that does not serve others is
    of use by itself: moves that take the room that it leaves are not tied to it. Within a group the order of `moves`
    stays.
    """
    left = {move.source for move in moves if serves_others(move)} - {PENDING}
    parents: dict[Hashable, Hashable] = {}
    for number, move in enumerate(moves):
        ends = (move.source, move.target) if serves_others(move) else (move.target,)
        for node in left.intersection(ends):
            parents[_root(parents, ("node", node))] = _root(parents, ("move", number))
    groups: dict[Hashable, list[Reassignment]] = {}
    for number, move in enumerate(moves):
        groups.setdefault(_root(parents, ("move", number)), []).append(move)
    return list(groups.values())


def _root(parents: dict[Hashable, Hashable], key: Hashable) -> Hashable:
    while (parent := parents.get(key, key)) != key:
        key = parent
    return key
