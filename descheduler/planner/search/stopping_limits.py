"""Which limits of the policy and budgets keep plans from an objective, and how far it is without them."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from descheduler.model.text.counted import counted
from descheduler.optimizer.arrays import PENDING, Ints
from descheduler.optimizer.problem import Problem
from descheduler.optimizer.rules import MoveLimit

_RunLimit = re.compile(r"\((\d+)\)$")
_MOST_NAMED = 2
"""Limits of one kind that are named, such as budgets."""


class StoppingLimits(NamedTuple):
    """`names` of limits without which a lower figure is possible, and what it needs then: `least_evictions`.

    `most_of_run` is how many evictions one run may make; None where the limits are of several kinds, or of nodes.
    `too_many` says of a node that all pods leave at once of how many one of the limits keeps it, empty where none does.
    """

    names: Sequence[str]
    least_evictions: int
    most_of_run: int | None
    too_many: str = ""

    @property
    def text(self) -> str:
        """Such as `maxNoOfPodsToEvictTotal (50)`."""
        *others, last = self.names
        return f"{', '.join(others)} and {last}" if others else last

    def rest(self, num_evictions: int, needs_more_than: Callable[[int], str | None]) -> str:
        """How far the rest is after so many evictions; empty where nothing is proven of it.

        `needs_more_than` has what takes more evictions in one run than a number, None where it is unknown: no number of
        runs is enough for that, so that none is given.
        """
        missing = self.least_evictions - num_evictions
        if missing <= 0:
            return ""
        text = f"the rest needs at least {counted(missing, 'more eviction')}"
        large = needs_more_than(self.most_of_run) if self.most_of_run else None
        if self.most_of_run is None or large is None:
            return f"{text}; {self.too_many}" if self.too_many else text
        if large:
            return f"{text}; {large}, more than {self.text} allows in a run"
        return f"{text} ({counted(-(-missing // self.most_of_run), 'more run')})"


def used_up(problem: Problem, num_evictions: int, moved: Ints) -> str:
    """The limit that lets no pod leave but those `moved`, such as `maxEvictions (50)`; empty for none.

    One of the whole run is used up by `num_evictions`, which counts pods that come along as well. One of nodes,
    namespaces or workloads is where all that pods are of have lost as many as it allows.
    """
    leaving = problem.evictable & (problem.assignment != PENDING)
    left = np.setdiff1d(np.flatnonzero(leaving), moved)
    for rule in problem.move_limits:
        if (rule.group[leaving] == 0).all():
            full = [0] if rule.limit[0] <= num_evictions else []
        else:
            groups = np.unique(rule.group[left])
            is_full = groups.size and groups[0] >= 0 and (rule.limit[groups] <= rule.count(moved)[groups]).all()
            full = groups.tolist() if is_full else []
        names = {rule.names[group] for group in full}
        if len(names) == 1 and (name := names.pop()):
            return name
    return ""


def stopping_limits(
    problem: Problem,
    figure: int,
    bound_of: Callable[[Problem], tuple[int, int]],
    whole_nodes: Sequence[str] = (),
) -> StoppingLimits | None:
    """The named limits of `problem` that keep the least possible figure at `figure`; None where none does.

    `bound_of` has (figure, evictions) of a problem, of which no plan has less. Pods leave `whole_nodes`, which are the
    names of the problem's nodes, all together; empty where they need not.
    """
    movable = np.flatnonzero(problem.evictable)
    binding = [rule for rule in problem.move_limits if _binding_names(rule, movable)] if figure else []
    if not binding:
        return None
    without_all, least = bound_of(_without(problem, binding))
    if without_all >= figure:
        return None
    by_one = [(rule, *bound_of(_without(problem, [rule]))) for rule in binding] if len(binding) > 1 else []
    alone = [(rule, least_without) for rule, without_one, least_without in by_one if without_one < figure]
    stopping = [rule for rule, _ in alone] or _needed(problem, figure, bound_of, binding)
    if len(alone) == 1:
        least = alone[0][1]
    elif len(stopping) < len(binding):
        least = bound_of(_without(problem, stopping))[1]
    names = dict.fromkeys(text for rule in stopping for text in _shown(_binding_names(rule, movable)))
    too_many = (text for rule in stopping for text in _too_many(problem, rule, whole_nodes))
    return StoppingLimits(list(names), least, _most_of_run(stopping), next(too_many, ""))


def _needed(
    problem: Problem, figure: int, bound_of: Callable[[Problem], tuple[int, int]], binding: Sequence[MoveLimit]
) -> Sequence[MoveLimit]:
    """The rules of `binding` that all have to go for a lower figure, of which none is enough alone.

    The others stop nothing once these are gone.
    """
    found = list(binding)
    for rule in binding:
        others = [each for each in found if each is not rule]
        if len(others) > 1 and bound_of(_without(problem, others))[0] < figure:
            found = others
    return found


def _binding_names(rule: MoveLimit, movable: Ints) -> Sequence[str]:
    """The names of the limits that keep some of the `movable` pods, those first that keep most."""
    counts = rule.count(movable)
    binding = sorted(rule.binding(movable), key=lambda found: found[1] - counts[found[0]])
    return list(dict.fromkeys(rule.names[group] for group, _ in binding if rule.names and rule.names[group]))


def _too_many(problem: Problem, rule: MoveLimit, nodes: Sequence[str]) -> Iterator[str]:
    """The nodes with more pods of a group than may leave under the rule, where all pods could leave otherwise."""
    placed = problem.assignment != PENDING
    stays = np.bincount(problem.assignment[placed & ~problem.evictable], minlength=problem.num_nodes) > 0
    for group, most in rule.binding(np.flatnonzero(problem.evictable & placed)) if nodes else ():
        counts = np.bincount(problem.assignment[placed & (rule.group == group)], minlength=problem.num_nodes)
        for node in np.flatnonzero((counts > most) & ~stays).tolist():
            if rule.names[group] and nodes[node]:
                pods = f"{counted(int(counts[node]), 'pod')} that {rule.names[group]} counts together"
                yield f"node {nodes[node]} has {pods}: {most:,} may leave in a run"


def _shown(names: Sequence[str]) -> Sequence[str]:
    number = len(names) - _MOST_NAMED
    return [*names[:_MOST_NAMED], *([f"{number:,} more"] if number > 0 else [])]


def _without(problem: Problem, limits: Sequence[MoveLimit]) -> Problem:
    """`problem` as if those of `limits` that have a name were not there."""
    kept = (rule for rule in problem.rules if rule not in limits)
    lifted = (_lifted(rule, problem.num_pods) for rule in limits)
    return dataclasses.replace(problem, rules=(*kept, *lifted))


def _lifted(rule: MoveLimit, most: int) -> MoveLimit:
    return dataclasses.replace(rule, limit=np.where(np.array(rule.names) != "", most, rule.limit))


def _most_of_run(limits: Sequence[MoveLimit]) -> int | None:
    """The number of evictions that the one limit has, if it is one of the whole run."""
    if len(limits) != 1 or len(limits[0].limit) != 1:
        return None
    number = _RunLimit.search(limits[0].names[0])
    return int(number[1]) if number else None
