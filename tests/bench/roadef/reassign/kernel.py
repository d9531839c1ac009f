"""The inner loop of annealing by single moves and swaps, in the subset of Python that numba compiles.

It runs as plain Python as well, with the same results, only a thousand times slower. State is in arrays that the caller
keeps between calls; `_may_go` and `_go` mirror `rule_counts` and `Placement`. Indexes of -1 lead to a spare last row or
column, as they do there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from types import FunctionType
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from descheduler.optimizer.arrays import Bools, Floats, Ints

Random = npt.NDArray[np.uint64]
"""uint64[1], above 0: the state of a generator of random numbers."""
_UNIT = 2.0**-53


class State(NamedTuple):
    """All arrays. Shapes: P pods, N nodes, R resources; groups and domains have one spare row and column.

    at, origin, pods: int64[P] where pods are, and were before the plan; int64[p] those that may be moved.
    need, free, free_while_moving: float64[P, R], and float64[N, R] twice: what is left, and what is left beside what
    moved pods still hold on their old node.
    reserve, weight, proportions, cost, between: the capacity less the safety, float64[N, R], and the costs, as in
    `Reassign` and `Problem`; a proportion is a row of (per, wanted, target, weight).
    limit_*, spread_*, company_*: groups, domains and counts of `AtMost`, `MinDomains` and `Together`, as in
    `rule_counts`; `needs` has the groups that each group needs, joined, from `needs_start` on, and `needed_by` the
    reverse.
    shares: float64[2], how many of the proposals are swaps, and how many of the single moves that are proposed for a
    pod that is away from home lead back there.
    is_lenient: bool[1], whether nodes may be overloaded, at the `price` (float64[N, R]) for each unit that is short.
    """

    at: Ints
    origin: Ints
    pods: Ints
    need: Floats
    free: Floats
    free_while_moving: Floats
    both_ends: Bools
    allowed: Bools
    pod_class: Ints
    reserve: Floats
    weight: Floats
    proportions: Floats
    cost: Floats
    between: Floats
    limit_group: Ints
    limit_domain: Ints
    limit_counts: Ints
    limit: Ints
    spread_group: Ints
    spread_domain: Ints
    spread_counts: Ints
    spread_covered: Ints
    spread_minimum: Ints
    company_group: Ints
    company_domain: Ints
    company_counts: Ints
    missing: Ints
    needed: Ints
    needs_start: Ints
    needs: Ints
    needed_by_start: Ints
    needed_by: Ints
    shares: Floats
    is_lenient: Bools
    price: Floats


def _draw(random: Random) -> float:
    """From 0 to 1, exclusive of 1, by Marsaglia's generator "xorshift64" (Journal of Statistical Software, 2003)."""
    x = random[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    random[0] = x
    return float(x >> np.uint64(11)) * _UNIT


def _may_go(s: State, pod: int, node: int) -> bool:
    """Whether class and rules allow the pod, alone, on another node."""
    here = s.at[pod]
    if not s.allowed[s.pod_class[pod], node] and node != s.origin[pod]:
        return False
    group = s.limit_group[pod]
    there = s.limit_domain[node]
    if group >= 0 and there >= 0 and s.limit_domain[here] != there and s.limit_counts[group, there] >= s.limit[group]:
        return False
    group = s.spread_group[pod]
    if group >= 0:
        left = s.spread_domain[here]
        there = s.spread_domain[node]
        if left != there:
            covered = s.spread_covered[group]
            after = covered
            if left >= 0 and s.spread_counts[group, left] == 1:
                after -= 1
            if there >= 0 and s.spread_counts[group, there] == 0:
                after += 1
            if after < min(s.spread_minimum[group], covered):
                return False
    group = s.company_group[pod]
    if group >= 0:
        left = s.company_domain[here]
        there = s.company_domain[node]
        if left != there:
            if left >= 0 and s.company_counts[group, left] == 1 and s.needed[group, left] > 0:
                return False
            if there >= 0 and s.missing[group, there] > 0:
                return False
    return True


def _fits(s: State, pod: int, node: int) -> bool:
    """Whether the node has room for the pod. What a pod does not need may be short."""
    is_home = s.origin[pod] == node
    for r in range(s.need.shape[1]):
        more = s.need[pod, r]
        if more > (s.free[node, r] if is_home else s.free_while_moving[node, r]) and more > 0.0:
            return False
    return True


def _fit_swapped(s: State, pod: int, other: int) -> bool:
    """Whether each of two pods' nodes has room for the other pod, once its own has left."""
    here, there = s.at[pod], s.at[other]
    for r in range(s.need.shape[1]):
        more = s.need[pod, r] - s.need[other, r]
        if (more > s.free[there, r] and more > 0.0) or (-more > s.free[here, r] and more < 0.0):
            return False
    return _fits_while_moving(s, pod, there, other) and _fits_while_moving(s, other, here, pod)


def _fits_while_moving(s: State, pod: int, node: int, leaving: int) -> bool:
    for r in range(s.need.shape[1]):
        if s.both_ends[r]:
            more = 0.0
            if s.origin[pod] != node:
                more += s.need[pod, r]
            if s.origin[leaving] != node:
                more -= s.need[leaving, r]
            if more > s.free_while_moving[node, r] and more > 0.0:
                return False
    return True


def _node_change(s: State, node: int, arriving: int, leaving: int) -> float:
    """What the node's cost changes by; either pod may be -1."""
    change = 0.0
    for r in range(s.need.shape[1]):
        if s.weight[r] != 0.0:
            before = s.reserve[node, r] - s.free[node, r]
            after = before
            if arriving >= 0:
                after += s.need[arriving, r]
            if leaving >= 0:
                after -= s.need[leaving, r]
            change += s.weight[r] * (max(after, 0.0) - max(before, 0.0))
    for b in range(s.proportions.shape[0]):
        per, wanted = int(s.proportions[b, 0]), int(s.proportions[b, 1])
        free_per, free_wanted = s.free[node, per], s.free[node, wanted]
        before = max(s.proportions[b, 2] * free_per - free_wanted, 0.0)
        if arriving >= 0:
            free_per -= s.need[arriving, per]
            free_wanted -= s.need[arriving, wanted]
        if leaving >= 0:
            free_per += s.need[leaving, per]
            free_wanted += s.need[leaving, wanted]
        change += s.proportions[b, 3] * (max(s.proportions[b, 2] * free_per - free_wanted, 0.0) - before)
    return change


def _overload_change(s: State, node: int, arriving: int, leaving: int) -> float:
    """What the price of the node's overload changes by, with what is held there for moved pods; either may be -1."""
    change = 0.0
    for r in range(s.need.shape[1]):
        before = -s.free_while_moving[node, r]
        after = before
        if arriving >= 0 and not (s.both_ends[r] and s.origin[arriving] == node):
            after += s.need[arriving, r]
        if leaving >= 0 and not (s.both_ends[r] and s.origin[leaving] == node):
            after -= s.need[leaving, r]
        change += s.price[node, r] * (max(after, 0.0) - max(before, 0.0))
    return change


def _move_change(s: State, pod: int, node: int) -> float:
    origin = s.origin[pod]
    before = s.between[origin, s.at[pod]]
    after = s.between[origin, node]
    if s.at[pod] != origin:
        before += s.cost[pod]
    if node != origin:
        after += s.cost[pod]
    return float(after - before)


def _flip(s: State, group: int, domain: int, sign: int) -> None:
    for k in range(s.needed_by_start[group], s.needed_by_start[group + 1]):
        s.missing[s.needed_by[k], domain] -= sign
    for k in range(s.needs_start[group], s.needs_start[group + 1]):
        s.needed[s.needs[k], domain] += sign


def _go(s: State, pod: int, node: int) -> None:
    """Moves the pod and all counts."""
    here = s.at[pod]
    origin = s.origin[pod]
    for r in range(s.need.shape[1]):
        amount = s.need[pod, r]
        s.free[here, r] += amount
        s.free[node, r] -= amount
        if here != origin or not s.both_ends[r]:
            s.free_while_moving[here, r] += amount
        if node != origin or not s.both_ends[r]:
            s.free_while_moving[node, r] -= amount
    s.limit_counts[s.limit_group[pod], s.limit_domain[here]] -= 1
    s.limit_counts[s.limit_group[pod], s.limit_domain[node]] += 1
    group = s.spread_group[pod]
    left, there = s.spread_domain[here], s.spread_domain[node]
    s.spread_counts[group, left] -= 1
    if left >= 0 and s.spread_counts[group, left] == 0:
        s.spread_covered[group] -= 1
    if there >= 0 and s.spread_counts[group, there] == 0:
        s.spread_covered[group] += 1
    s.spread_counts[group, there] += 1
    group = s.company_group[pod]
    left, there = s.company_domain[here], s.company_domain[node]
    if group >= 0 and left != there:
        s.company_counts[group, left] -= 1
        if s.company_counts[group, left] == 0:
            _flip(s, group, left, -1)
        if s.company_counts[group, there] == 0:
            _flip(s, group, there, 1)
        s.company_counts[group, there] += 1
    s.at[pod] = node


def _is_taken(random: Random, change: float, temperature: float) -> bool:
    """Metropolis' rule."""
    return change <= 0.0 or _draw(random) < math.exp(-change / temperature)


def _some_pod(s: State, random: Random) -> int:
    return int(s.pods[int(_draw(random) * len(s.pods))])


def _some_node(s: State, random: Random, pod: int) -> int:
    if s.at[pod] != s.origin[pod] and _draw(random) < s.shares[1]:
        return int(s.origin[pod])
    return int(_draw(random) * len(s.free))


def shift_change(s: State, pod: int, node: int) -> float:
    """What the sum changes by where the pod goes to the node; infinity where it may not. As numpy's `shift_changes`."""
    here = s.at[pod]
    if node == here or not (s.is_lenient[0] or _fits(s, pod, node)) or not _may_go(s, pod, node):
        return math.inf
    change = _node_change(s, here, -1, pod) + _node_change(s, node, pod, -1) + _move_change(s, pod, node)
    if s.is_lenient[0]:
        change += _overload_change(s, here, -1, pod) + _overload_change(s, node, pod, -1)
    return change


def swap_change(s: State, pod: int, other: int) -> float:
    """What the sum changes by where two pods change places; infinity where they may not. As numpy's `swap_changes`."""
    here, there = s.at[pod], s.at[other]
    if here == there or not (s.is_lenient[0] or _fit_swapped(s, pod, other)):
        return math.inf
    if not _may_go(s, pod, there) or not _may_go(s, other, here):
        return math.inf
    change = _node_change(s, here, other, pod) + _node_change(s, there, pod, other)
    if s.is_lenient[0]:
        change += _overload_change(s, here, other, pod) + _overload_change(s, there, pod, other)
    return change + _move_change(s, pod, there) + _move_change(s, other, here)


def _try_shift(s: State, random: Random, temperature: float) -> float:
    """Proposes one move; what the sum changed by."""
    pod = _some_pod(s, random)
    node = _some_node(s, random, pod)
    change = shift_change(s, pod, node)
    if not _is_taken(random, change, temperature):
        return 0.0
    _go(s, pod, node)
    return change


def _try_swap(s: State, random: Random, temperature: float) -> float:
    """Proposes that two pods change places; what the sum changed by."""
    pod, other = _some_pod(s, random), _some_pod(s, random)
    change = swap_change(s, pod, other)
    if not _is_taken(random, change, temperature):
        return 0.0
    here, there = s.at[pod], s.at[other]
    _go(s, pod, there)
    if not _may_go(s, other, here):
        _go(s, pod, here)
        return 0.0
    _go(s, other, here)
    return change


def anneal(s: State, random: Random, temperature: float, steps: int) -> float:
    """Proposes `steps` moves and swaps by Metropolis' rule; what the sum changed by."""
    change = 0.0
    if len(s.pods) == 0:
        return change
    for _ in range(steps):
        if _draw(random) < s.shares[0]:
            change += _try_swap(s, random, temperature)
        else:
            change += _try_shift(s, random, temperature)
    return change


Kernel = Callable[[State, Random, float, int], float]
_PARTS = (
    _draw,
    _may_go,
    _fits,
    _fits_while_moving,
    _fit_swapped,
    _node_change,
    _overload_change,
    _move_change,
    _flip,
    _go,
    _is_taken,
    _some_pod,
    _some_node,
    shift_change,
    swap_change,
    _try_shift,
    _try_swap,
    anneal,
)


def compile_kernel() -> Kernel:
    """`anneal`, compiled by numba: some ten seconds at first, then read from numba's cache where one can be written.

    Raises ImportError where numba is not installed.
    """
    compiled = {**globals()}
    for function in _PARTS:
        # A copy that calls compiled functions by the names of the plain ones, which stay plain.
        own = FunctionType(function.__code__, compiled, function.__name__)
        compiled[function.__name__] = _compiled(own)
    return cast(Kernel, compiled["anneal"])


def _compiled(function: FunctionType) -> object:
    import numba

    # Each call that is not inlined passes on some 300 values, which is what all of the state's arrays are made of; and
    # each array that is looked at is counted as used, atomically, unless told that nothing here needs memory (`_nrt`).
    options: dict[str, Any] = {"forceinline": True, "_nrt": False}
    try:
        return numba.njit(function, cache=True, **options)
    except RuntimeError:  # there is no folder that the cache can be written to
        return numba.njit(function, **options)
