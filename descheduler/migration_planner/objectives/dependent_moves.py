"""Moves that are of use only together: those that make room, and those that take it."""

from __future__ import annotations

from collections.abc import Container, Sequence

from descheduler.planner.waves import Move

__all__ = ["dependent_moves"]


def dependent_moves(moves: Sequence[Move], makers: Container[int]) -> Sequence[Sequence[Move]]:
    """The moves in groups, each in its order, ordered by their last moves.

    A move of a pod in `makers` serves those that end on the node that it leaves; all others stand for themselves.
    """
    group = list(range(len(moves)))
    arriving: dict[int, list[int]] = {}
    for number, move in enumerate(moves):
        arriving.setdefault(move.target, []).append(number)
    for number, move in enumerate(moves):
        if move.pod in makers:
            for other in arriving.get(move.source, ()):
                _join(group, number, other)
    members: dict[int, list[Move]] = {}
    last: dict[int, int] = {}
    for number, move in enumerate(moves):
        members.setdefault(group[number], []).append(move)
        last[group[number]] = number
    return [members[name] for name in sorted(members, key=last.__getitem__)]


def _join(group: list[int], first: int, second: int) -> None:
    old, new = group[second], group[first]
    if old != new:
        group[:] = [new if name == old else name for name in group]
