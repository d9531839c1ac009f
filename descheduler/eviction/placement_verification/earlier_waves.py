"""Pods that a run has refused for want of room, and that have it in an earlier wave than pods accepted before them.

A small pod that is asked about first can have the only node of a large one, although there are other nodes for it. So
what was refused is asked about once more, ahead of what was accepted, all of which has to be accepted again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

MOST_PASSED = 250
"""How many accepted requests can be asked about once more."""
MOST_WANTED = 100
"""How many refused ones are asked about ahead of them."""
_MOST_ORDERS = 4
"""How often all of these are asked about."""

T = TypeVar("T")


def best_order(
    wanted: Sequence[T], kept: Sequence[T], refused_in: Callable[[Sequence[T]], Mapping[T, bool]]
) -> Sequence[T]:
    """All of `kept` and as many of `wanted` as are found to go with them, in an order in which all are accepted.

    `refused_in` tells which of some requests are refused if they are asked about in this order, and whether that is for
    want of room. Those come first in the next order that is tried: they are harder to place than what took their room.
    `kept` alone is accepted as it is.
    """
    best, order, tried = list(kept), [*wanted, *kept], set[tuple[T, ...]]()
    while len(tried) < _MOST_ORDERS and tuple(order) not in tried:
        tried.add(tuple(order))
        refused = refused_in(order)
        accepted = [each for each in order if each not in refused]
        if len(accepted) > len(best) and refused.keys().isdisjoint(kept):
            best = accepted
        if not refused:
            break
        harder = [each for each in order if refused.get(each) or (each in refused and each in kept)]
        order = [*harder, *accepted]
    return best
