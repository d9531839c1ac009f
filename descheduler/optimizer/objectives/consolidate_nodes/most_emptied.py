"""How much can be emptied at most: volume in total and by classes of pods, and limits on moves, in one small model.

With y[n] = 1 for nodes that are emptied, everything is a sum over these nodes. Pods leave a node only together, so what
is on the other nodes stays there. Of nodes that are opened for them, z[n] = 1, the weight is lost and the room is won.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from descheduler.optimizer.arrays import Bools, Floats, Ints
from descheduler.optimizer.cp_sat.integer_program import IntegerProgram
from descheduler.optimizer.objectives.consolidate_nodes.drains import Drains
from descheduler.optimizer.objectives.knapsack import most_weight

_MOST_CLASSES = 30
"""Sets of nodes whose room is compared with what pods need that are allowed on no others."""
_WORK = 6.0
"""Of the program, for both of its bounds."""

Row = tuple[Ints, int]
"""What each node takes of something, and how much of it there is for all that are emptied."""


class MostEmptied(NamedTuple):
    """The `weight` that can be emptied at most, less that of nodes opened for it, and what so much costs at least.

    `nodes`, int64[n], are the ones that reach the one or the other as far as that is known: not where volume alone
    decides, nor where nodes are opened. That their pods have a place each is not said.
    """

    weight: int
    cost: int
    nodes: Ints


def most_emptied(drains: Drains, weight: Ints) -> MostEmptied:
    """How much can be emptied at most; `weight` is int64[N]."""
    nodes, none = np.flatnonzero(drains.can_empty), np.zeros(0, np.int64)
    if not len(nodes):
        return MostEmptied(0, 0, none)
    by_volume = _most_by_volume(drains, nodes, weight)
    opened = np.flatnonzero(drains.opens & (weight > 0))
    rows = _rows_of_some(drains, nodes, opened)
    if not (rows or len(opened)):
        return MostEmptied(by_volume, _least_cost(drains, nodes, weight, by_volume), none)
    weights = [*weight[nodes].tolist(), *(-weight[opened]).tolist()]
    program = program_of([*rows, *_rows_of_all(drains, nodes, opened)], len(weights), _WORK)
    emptied = min(program.most_gained(dict(enumerate(weights))) or 0, by_volume)
    program.limit({index: -each for index, each in enumerate(weights)}, -emptied)
    costs = (-drains.cost[nodes]).tolist()
    cost = max(-(program.most_gained(dict(enumerate(costs))) or 0), _least_cost(drains, nodes, weight, emptied))
    is_taken = np.zeros(len(nodes), bool) if len(opened) else np.array(program.taken[: len(nodes)], dtype=bool)
    return MostEmptied(emptied, cost, nodes[is_taken] if len(is_taken) else none)


def rows_of(drains: Drains, nodes: Ints) -> list[Row]:
    """What `nodes` (int64[n]) that are emptied have to keep together, if none is opened for them."""
    opened = np.zeros(0, np.int64)
    return [*_rows_of_some(drains, nodes, opened), *_rows_of_all(drains, nodes, opened)]


def program_of(rows: Sequence[Row], num_choices: int, work: float) -> IntegerProgram:
    """The program with a choice for each column of `rows`, which are its limits."""
    program = IntegerProgram(work)
    for _ in range(num_choices):
        program.choose()
    for amounts, most in rows:
        program.limit({index: amount for index, amount in enumerate(amounts.tolist()) if amount}, most)
    return program


def _rows_of_some(drains: Drains, nodes: Ints, opened: Ints) -> list[Row]:
    """Of limits, and of pods that have room only on some nodes."""
    return [*_limit_rows(drains, nodes, opened), *_class_rows(drains, nodes, opened)]


def _rows_of_all(drains: Drains, nodes: Ints, opened: Ints) -> Iterator[Row]:
    return _room_rows(drains, nodes, opened, np.ones(drains.problem.num_nodes, bool))


def _limit_rows(drains: Drains, nodes: Ints, opened: Ints) -> Iterator[Row]:
    """(int64[n + o], most): how many pods of a group nodes have, opened ones none; how many may be moved in total."""
    problem = drains.problem
    leaving = np.flatnonzero(np.isin(problem.assignment, nodes))
    for rule in problem.move_limits:
        for group, most in rule.binding(leaving):
            homes = problem.assignment[leaving[rule.group[leaving] == group]]
            yield np.append(np.bincount(homes, minlength=problem.num_nodes)[nodes], np.zeros_like(opened)), most


def _class_rows(drains: Drains, nodes: Ints, opened: Ints) -> Iterator[Row]:
    """The rows of `_room_rows` for the sets of nodes that most is confined to, as a share of their room."""
    problem = drains.problem
    pods = np.flatnonzero(np.isin(problem.assignment, nodes))
    used, of_class = np.unique(problem.pod_class[pods], return_inverse=True)
    need = np.zeros((len(used), problem.need.shape[1]))
    np.add.at(need, of_class, problem.need[pods])
    open_to = problem.allowed[used] & drains.is_used
    sets = np.unique(open_to, axis=0)
    ranked: list[tuple[float, int]] = []
    for number, inside in enumerate(sets):
        if not inside.all() and inside.any():
            confined = need[~(open_to & ~inside).any(axis=1)].sum(axis=0)
            room = np.maximum(_room(drains)[:, inside].sum(axis=1), 1.0)
            ranked.append((-float((confined / room).max()), number))
    for _, number in sorted(ranked)[:_MOST_CLASSES]:
        yield from _room_rows(drains, nodes, opened, sets[number])


def _room_rows(drains: Drains, nodes: Ints, opened: Ints, inside: Bools) -> Iterator[Row]:
    """(int64[n + o], most) of each resource: pods that no node but those `inside` takes find room there.

    sum_n y[n] * (confined usage[n] + room[n], if inside) <= sum_n room[n] + sum_o z[o] * room[o] over the nodes inside.
    """
    room = np.where(inside, _room(drains), 0.0)
    taken = (drains.usage_of(_confined(drains, inside)) + room)[:, nodes].astype(np.int64)
    won = room[:, opened].astype(np.int64)
    room[:, opened] = 0.0
    for amounts, added, most in zip(taken, won, room.sum(axis=1).tolist(), strict=True):
        if amounts.sum() > most:
            yield np.append(amounts, -added), int(most)


def _confined(drains: Drains, inside: Bools) -> Bools:
    """bool[P]: pods that no node in use outside is open to."""
    problem = drains.problem
    is_open_outside: Bools = np.asarray((problem.allowed & (drains.is_used & ~inside)).any(axis=1))
    return ~is_open_outside[problem.pod_class]


def _room(drains: Drains) -> Floats:
    """float64[R, N]: what nodes in use may still take; nothing arrives on others."""
    room: Floats = np.where(drains.is_used, np.maximum(drains.limit - drains.usage, 0.0), 0.0)
    return room


def _most_by_volume(drains: Drains, nodes: Ints, weight: Ints) -> int:
    """No set of nodes of more weight can be emptied, by their volume alone; see `_room_rows`."""
    room = _room(drains)
    return most_weight((drains.usage + room)[:, nodes], weight[nodes], room.sum(axis=1))


def _least_cost(drains: Drains, nodes: Ints, weight: Ints, emptied: int) -> int:
    """What it costs at least to empty nodes of the weight `emptied`: the cheapest per weight, the last in part."""
    cost = drains.cost[nodes].astype(np.float64)
    weights = weight[nodes]
    order = np.argsort(cost / np.maximum(weights, 1), kind="stable")
    reached = np.cumsum(weights[order])
    whole = int(np.searchsorted(reached, emptied, side="right"))
    least = float(cost[order][:whole].sum())
    if whole < len(order):
        missing = emptied - (int(reached[whole - 1]) if whole else 0)
        least += float(cost[order[whole]]) * missing / max(int(weights[order[whole]]), 1)
    return int(np.ceil(least - 1e-6))
