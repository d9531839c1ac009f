"""Amounts of resources as Volcano counts them: cpu in milli, memory in bytes, pods in pieces, all else in thousandths.

cpu and memory are always there; other names are where somebody states them. What is less than `QUANTUM` is nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from descheduler.model.quantity import ceil_milli, ceil_value
from descheduler.model.requests import CPU, MEMORY, PODS, ResourceList
from descheduler.placement.shadow.node_table import is_counted

Amounts: TypeAlias = Mapping[str, float]
"""Resource name → amount."""
QUANTUM = 0.1
_COUNTS = "count/"
NOTHING: Amounts = {CPU: 0.0, MEMORY: 0.0}


def amounts_of(resources: ResourceList) -> Amounts:
    """What nano units come to; names that are no resources of pods, such as `count/jobs.batch`, are left out."""
    found = dict(NOTHING)
    for name, nano in resources.items():
        if name in (MEMORY, PODS):
            found[name] = float(ceil_value(nano))
        elif name == CPU or (is_counted(name) and not name.startswith(_COUNTS)):
            found[name] = float(ceil_milli(nano))
    return found


def whole_units(name: str, amount: float) -> int:
    """An amount as reports have it: cpu in milli, all else in whole units."""
    return round(amount if name in (CPU, MEMORY, PODS) else amount / 1000)


def added(left: Amounts, right: Amounts) -> Amounts:
    """The sum."""
    return {**left, **{name: left.get(name, 0.0) + amount for name, amount in right.items()}}


def subtracted(left: Amounts, right: Amounts) -> Amounts:
    """`left` without `right`, which may be more."""
    return {**left, **{name: left.get(name, 0.0) - amount for name, amount in right.items()}}


def total_of(amounts: Iterable[Amounts]) -> Amounts:
    """The sum of all."""
    found: dict[str, float] = dict(NOTHING)
    for each in amounts:
        for name, amount in each.items():
            if amount or name not in found:
                found[name] = found.get(name, 0.0) + amount
    return found


def exceeded_part(left: Amounts, right: Amounts) -> Amounts:
    """By how much `left` is more, resource by resource."""
    return {name: max(0.0, amount - right.get(name, 0.0)) for name, amount in left.items()}


def least(left: Amounts, right: Amounts, *, missing: float = 0.0) -> Amounts:
    """The smaller amount of each resource of `left`, where `right` has `missing` of what it does not name."""
    return {name: min(amount, right.get(name, missing)) for name, amount in left.items()}


def most(left: Amounts, right: Amounts) -> Amounts:
    """The larger amount of each resource of either."""
    return {name: max(left.get(name, 0.0), right.get(name, 0.0)) for name in {**left, **right}}


def is_nothing(amounts: Amounts) -> bool:
    """Whether all amounts are below the quantum, pods aside."""
    return all(amount < QUANTUM for name, amount in amounts.items() if name != PODS)


def named(amounts: Amounts) -> Iterable[str]:
    """The resources of which there is some."""
    return (name for name, amount in amounts.items() if amount >= QUANTUM)


def fits(left: Amounts, right: Amounts, *, missing: float = 0.0) -> bool:
    """Whether `left` is at most `right` in each resource that it names, but for less than the quantum."""
    return all(
        amount < (limit := right.get(name, missing)) or abs(amount - limit) < QUANTUM for name, amount in left.items()
    )


def fits_strictly(left: Amounts, right: Amounts, asked: Amounts) -> bool:
    """Whether `left` is at most `right` in each resource of which `asked` has some, pods aside."""
    return all(
        left.get(name, 0.0) <= right.get(name, 0.0) for name, amount in asked.items() if amount > 0 and name != PODS
    )


def share(taken: float, total: float) -> float:
    """The part that is taken; of nothing, all or nothing."""
    if total == 0:
        return 0.0 if taken == 0 else 1.0
    return taken / total
