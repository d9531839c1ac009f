"""The kernel's arrays, made from a placement and the challenge's costs."""

from __future__ import annotations

import numpy as np

from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.arrays import Floats, Ints
from descheduler.optimizer.problem import Problem
from descheduler.optimizer.rule_counts import AtMostCounts, DomainCounts, TogetherCounts, count_rules
from descheduler.optimizer.rules import AtMost, MinDomains, Rule, Together
from tests.bench.roadef.reassign.kernel import State

_SWAP_SHARE, _HOME_SHARE = 0.5, 0.3
_SWAP_SHARE_IF_HELD = 0.3


def is_known(rules: tuple[Rule, ...]) -> bool:
    """Whether the kernel keeps these rules: at most one of each kind, and no limit of moves."""
    kinds = [type(rule) for rule in rules]
    return len(kinds) == len(set(kinds)) and set(kinds) <= {AtMost, MinDomains, Together}


def make_state(placement: Arrangement, *, safety: Ints, weight: Ints, proportions: Floats, between: Ints) -> State:
    """The kernel's own arrays for a placement; `proportions` is float64[B, 4]: per, wanted, target, weight."""
    problem = placement.problem
    moved = problem.moved(placement.at)
    left_behind = np.zeros_like(problem.need, shape=problem.capacity.shape, dtype=np.float64)
    np.add.at(left_behind, placement.origins[moved], problem.need[moved])
    free = np.ascontiguousarray(problem.capacity - placement.usage.T)
    limit, spread, company = _counts(placement)
    return State(
        at=placement.at.copy(),
        origin=problem.assignment.copy(),
        pods=np.flatnonzero(problem.evictable & (problem.assignment >= 0)),
        need=problem.need.astype(np.float64),
        free=free,
        free_while_moving=free - np.where(problem.both_ends, left_behind, 0.0),
        both_ends=problem.both_ends,
        allowed=problem.allowed,
        pod_class=problem.pod_class,
        reserve=(problem.capacity - safety).astype(np.float64),
        weight=weight.astype(np.float64),
        proportions=proportions,
        cost=problem.cost.astype(np.float64),
        between=between.astype(np.float64),
        limit_group=limit.group,
        limit_domain=limit.domain,
        limit_counts=limit.counts.astype(np.int64),
        limit=limit.limit,
        spread_group=spread.group,
        spread_domain=spread.domain,
        spread_counts=spread.counts.astype(np.int64),
        spread_covered=spread.covered,
        spread_minimum=spread.minimum,
        company_group=company.group,
        company_domain=company.domain,
        company_counts=company.counts.astype(np.int64),
        missing=company.missing.astype(np.int64),
        needed=company.needed.astype(np.int64),
        needs_start=_starts(company.needs),
        needs=np.concatenate(company.needs),
        needed_by_start=_starts(company.needed_by),
        needed_by=np.concatenate(company.needed_by),
        shares=_shares(problem),
        is_lenient=np.zeros(1, bool),
        price=np.zeros(problem.capacity.shape),
    )


def _shares(problem: Problem) -> Floats:
    """See `State.shares`.

    Where moved pods hold what they need at home too, a placement of many idle moves has no room left to become a good
    one, so that most of them are taken back while it is hot: the more, the more pods share a node.
    """
    if not problem.both_ends.any():
        return np.array([_SWAP_SHARE, _HOME_SHARE])
    return np.array([_SWAP_SHARE_IF_HELD, 1.0 - min(problem.num_nodes / problem.num_pods, 1.0 - _HOME_SHARE)])


def _counts(placement: Arrangement) -> tuple[AtMostCounts, DomainCounts, TogetherCounts]:
    """The counts of the problem's rules, and empty ones of kinds that it has none of."""
    problem = placement.problem
    group = np.full(problem.num_pods, -1)
    domain, none = np.zeros(problem.num_nodes, np.int64), np.zeros(0, np.int64)
    rules: list[Rule] = [
        AtMost(group, domain, none),
        MinDomains(group, domain, none),
        Together(group, domain, np.zeros((0, 2), np.int64)),
    ]
    kept = {type(rule): rule for rule in (*rules, *problem.rules)}
    limit, spread, company = count_rules(
        [kept[kind] for kind in (AtMost, MinDomains, Together)], placement.origins, placement.at
    )
    if not (
        isinstance(limit, AtMostCounts) and isinstance(spread, DomainCounts) and isinstance(company, TogetherCounts)
    ):
        raise TypeError("counts of other rules than asked for")
    return limit, spread, company


def _starts(lists: list[Ints]) -> Ints:
    """Where each list starts in all of them joined, and the end."""
    return np.concatenate(([0], np.cumsum([len(some) for some in lists]))).astype(np.int64)
