"""What rules leave of a piece of a tiny cluster: of all ways to place its pods exactly those that they allow."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable

import numpy as np
import pytest

from descheduler.optimizer import AtMost, MaxSkew, MinDomains, MoveLimit, Together, make_problem
from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.arrays import Ints
from descheduler.optimizer.cp_sat.node_model import NodeModel
from descheduler.optimizer.cp_sat.rule_model import state_rules
from descheduler.optimizer.objective import Neighbourhood
from descheduler.optimizer.rules import Rule
from tests.optimizer.cp_sat.ways import Places, ways

Domained = AtMost | MaxSkew | MinDomains | Together


def domain_of(rule: Domained, node: int) -> int:
    return -1 if node < 0 else int(rule.domain[node])


def counts(rule: Domained, at: Iterable[int]) -> Counter[tuple[int, int]]:
    """How many pods of each group are in each domain."""
    keys = ((int(group), domain_of(rule, node)) for group, node in zip(rule.group, at, strict=True))
    return Counter(key for key in keys if min(key) >= 0)


def keeps_limits(rule: AtMost, before: Places, now: Places, after: Places, piece: Ints) -> bool:
    """A domain has no more pods than its limit or than now, where one is there that was elsewhere before the plan."""
    was = counts(rule, now)
    for (group, domain), count in counts(rule, after).items():
        come = [
            pod
            for pod, node in enumerate(after)
            if rule.group[pod] == group and domain_of(rule, node) == domain != domain_of(rule, before[pod])
        ]
        if come and count > max(int(rule.limit[group]), was[group, domain]):
            return False
    return True


def keeps_even(rule: MaxSkew, before: Places, now: Places, after: Places, piece: Ints) -> bool:
    """No domain has more pods than the emptiest and the skew, or than now; the emptiest of uneven ones loses none.

    Where the piece has free pods of a group, that goes for domains alone that its other pods have come to.
    """
    for group, skew in enumerate(rule.skew.tolist()):
        was, has = (rule.count(np.array(at))[group] for at in (now, after))
        few_were, few = (min(row[rule.there[group]].tolist(), default=0) for row in (was, has))
        pods = piece[rule.group[piece] == group]
        held = pods[rule.holds_for(pods)].tolist()
        if len(held) == len(pods):
            if (was - few_were > skew).any() and few < few_were:
                return False
            if (has > np.where(was - few_were > skew, was, few + skew)).any():
                return False
        for pod in held:
            home, comes = domain_of(rule, before[pod]), domain_of(rule, after[pod])
            if len(held) < len(pods) and home != comes >= 0 and has[comes] - few > skew:
                return False
            stays = now[pod] == before[pod] != after[pod] and home == comes >= 0
            if rule.holds_first and stays and was[home] + 1 - few_were > skew and has[home] + 1 - few > skew:
                return False
    return True


def keeps_domains(rule: MinDomains, before: Places, now: Places, after: Places, piece: Ints) -> bool:
    """A group is in as many domains as it has to be in, or as now."""
    covered = [Counter(group for group, _ in counts(rule, at)) for at in (now, after)]
    return all(covered[1][group] >= min(least, covered[0][group]) for group, least in enumerate(rule.minimum.tolist()))


def keeps_company(rule: Together, before: Places, now: Places, after: Places, piece: Ints) -> bool:
    """Pods are where the company is that they need; where none was, those that were there may stay without it."""
    was, has = counts(rule, now), counts(rule, after)
    for group, needed in rule.pairs.tolist():
        for pod in np.flatnonzero(rule.group == group).tolist():
            domain = domain_of(rule, after[pod])
            stays = domain == domain_of(rule, now[pod]) and not was[needed, domain]
            if group != needed and domain >= 0 and not has[needed, domain] and not stays:
                return False
    return True


def keeps_moves(rule: MoveLimit, before: Places, now: Places, after: Places, piece: Ints) -> bool:
    """No more pods of a group have moved than may, or than now."""
    were, are = (rule.count(np.flatnonzero((np.array(at) != before) & (np.array(before) >= 0))) for at in (now, after))
    return bool((are <= np.maximum(rule.limit, were)).all())


def random_rule(kind: type[Rule], rng: np.random.Generator) -> Rule:
    """A rule for five pods of two groups or none on four nodes of three domains or none."""
    group, domain = rng.choice([0, 0, 0, 0, 1, -1], 5), rng.choice([0, 1, 1, 2, -1], 4)
    there = rng.random((2, 3)) < rng.choice([0.0, 0.8, 1.0])
    others = rng.integers(0, 3, (2, 3)) + rng.choice([0, 0, 9])
    made: dict[type[Rule], Rule] = {
        AtMost: AtMost(group, domain, rng.integers(0, 3, 2)),
        MaxSkew: MaxSkew(
            group,
            domain,
            rng.integers(1, 4, 2),
            there,
            holds_first=bool(rng.random() < 0.5),
            free=rng.random(5) < 0.4 if rng.random() < 0.4 else None,
            others=others if rng.random() < 0.7 else None,
        ),
        MinDomains: MinDomains(group, domain, rng.integers(0, 4, 2)),
        Together: Together(group, domain, rng.integers(0, 2, (int(rng.integers(1, 4)), 2))),
        MoveLimit: MoveLimit(group, rng.integers(-1, 4, 2)),
    }
    return made[kind]


Keeps = Callable[..., bool]


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize(
    ("kind", "keeps"),
    [
        pytest.param(AtMost, keeps_limits, id="limits a domain"),
        pytest.param(MaxSkew, keeps_even, id="even spread"),
        pytest.param(MinDomains, keeps_domains, id="several domains"),
        pytest.param(Together, keeps_company, id="company"),
        pytest.param(MoveLimit, keeps_moves, id="limits of moves"),
    ],
)
def test_a_piece_is_placed_in_all_ways_that_its_rule_allows(kind: type[Rule], keeps: Keeps, seed: int) -> None:
    """Whatever is broken now may stay so."""
    rng = np.random.default_rng(seed)
    rule = random_rule(kind, rng)
    before = rng.choice([-1, 0, 0, 0, 1, 2, 3], 5)
    problem = make_problem([[1]] * 5, [[9]] * 4, before, rules=[rule])
    now = np.where(rng.random(5) < 0.5, before, rng.integers(0, 4, 5))

    placement, pods = Arrangement(problem, now), np.sort(rng.choice(5, 3, replace=False))
    model = NodeModel(placement, Neighbourhood(np.arange(4), pods))
    every = itertools.product(*(model.options.get(pod, [node]) for pod, node in enumerate(now.tolist())))

    state_rules(model, placement)

    was, is_now = tuple(before.tolist()), tuple(now.tolist())
    assert ways(model, now) == {after for after in every if keeps(rule, was, is_now, after, pods)}


@pytest.mark.parametrize(
    ("holds_first", "before", "after", "is_allowed"),
    [
        pytest.param(False, (0, 0, 2), (0, 3, 3), True, id="both zones lose one"),
        pytest.param(False, (0, 0, 2), (0, 0, 3), False, id="the emptier zone loses one"),
        pytest.param(True, (0, 2, -1), (1, 2, 0), True, id="within a zone before another one comes to it"),
        pytest.param(True, (0, 0, 2), (1, 0, 2), False, id="within a zone that has no room for one more"),
        pytest.param(True, (0, 0, 2), (1, 2, 2), True, id="within it once another one has left"),
    ],
)
def test_room_of_a_spread_is_there_up_to_its_skew(
    holds_first: bool, before: Places, after: Places, is_allowed: bool
) -> None:
    """Zone 0 is nodes 0 and 1, zone 1 is node 2, and node 3 is in none. One zone may have one pod more."""
    group, there = np.zeros(3, np.int64), np.ones((1, 2), bool)
    rule = MaxSkew(group, np.array([0, 0, 1, -1]), np.array([1]), there, holds_first=holds_first)
    placement = Arrangement(make_problem([[1]] * 3, [[9]] * 4, before, rules=[rule]))
    model = NodeModel(placement, Neighbourhood(np.arange(4), np.arange(3)))

    state_rules(model, placement)

    assert (after in ways(model, placement.at)) is is_allowed
