"""What may start in a wave, and what order is found, beside the replay of all that could be."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from descheduler.optimizer import AtMost, MaxSkew, MinDomains, Problem, Together, make_problem, replay
from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.arrays import Ints
from descheduler.optimizer.order.ordering import order_moves
from descheduler.optimizer.order.waves import Reassignment, WaveState
from descheduler.optimizer.rules import Rule
from tests.optimizer.tiny import random_parts_problem, random_problem

_MOVES = 6


def crowded(kind: type[Rule], rng: np.random.Generator) -> Problem:
    """Five pods with all the room that they like, so that the rule alone is in their way."""
    group, domain = rng.choice([0, 0, 0, 1, -1], 5), rng.choice([0, 0, 1, 1, 2, -1], 4)
    skew = MaxSkew(group, domain, rng.integers(1, 3, 2), rng.random((2, 3)) < rng.choice([0.0, 0.8, 1.0]))
    made: dict[type[Rule], Rule] = {
        AtMost: AtMost(group, domain, rng.integers(1, 3, 2)),
        MaxSkew: dataclasses.replace(
            skew,
            holds_first=bool(rng.random() < 0.5),
            free=rng.random(5) < 0.3 if rng.random() < 0.5 else None,
            others=rng.integers(0, 2, (2, 3)) if rng.random() < 0.5 else None,
        ),
        MinDomains: MinDomains(group, domain, rng.integers(0, 4, 2)),
        Together: Together(group, domain, rng.integers(0, 2, (2, 2))),
    }
    return make_problem([[1]] * 5, [[9]] * 4, rng.choice([-1, 0, 0, 1, 2, 3], 5), rules=[made[kind]])


def tight(kind: type[Rule] | None, rng: np.random.Generator) -> Problem:
    """Such, or where room is all that counts, at both ends now and then, on nodes of their own or of shared parts."""
    if kind is not None:
        return crowded(kind, rng)
    return (random_problem if rng.random() < 0.5 else random_parts_problem)(rng, rules=False, pending=1)


def moves_from(problem: Problem, at: Ints) -> Iterator[Reassignment]:
    """The moves of pods that are where they were before the plan, sensible or not."""
    for pod in np.flatnonzero(problem.evictable & (at == problem.assignment)).tolist():
        yield from (Reassignment(pod, int(at[pod]), node) for node in range(problem.num_nodes) if node != at[pod])


def may_wait(rule: Rule, wave: Sequence[Reassignment], move: Reassignment) -> bool:
    """Whether a move that would do no harm beside those of the wave may be left to the next one.

    Such are into a domain that another one leaves, of groups with free pods, and where others give company.
    """
    if not isinstance(rule, AtMost):
        return bool(wave) and not (isinstance(rule, MaxSkew) and rule.free is None)
    group, domain = int(rule.group[move.pod]), [*rule.domain.tolist(), -1]
    others = [other for other in wave if rule.group[other.pod] == group >= 0]
    return any(domain[other.source] == domain[move.target] >= 0 for other in others)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("kind", [None, AtMost, MaxSkew, MinDomains, Together])
def test_a_move_starts_in_a_wave_where_the_replay_finds_no_fault_with_it(kind: type[Rule] | None, seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = tight(kind, rng)
    state, at = WaveState(problem), problem.assignment.copy()
    waves: list[list[Reassignment]] = [[]]
    for _ in range(_MOVES):
        if waves[-1] and rng.random() < 0.3:
            state.begin()
            waves.append([])
        open_moves = []
        for move in moves_from(problem, at):
            can_start = state.can_start(move.pod, move.target)
            after = np.where(np.arange(len(at)) == move.pod, move.target, at)
            is_sound = replay(problem, [*waves[:-1], [*waves[-1], move]], after) == []
            may_be_left = any(may_wait(rule, waves[-1], move) for rule in problem.rules)
            assert can_start == is_sound or (may_be_left and is_sound), (waves, move)
            open_moves += [move] if can_start else []
        if not open_moves:
            break
        move = open_moves[int(rng.integers(len(open_moves)))]
        assert state.start(move.pod, move.target) == move
        at[move.pod] = move.target
        waves[-1].append(move)


def an_order_leads_to(problem: Problem, target: Ints) -> bool:
    """Whether single moves lead there, each pod at once to where it is to go."""
    waiting, seen = [tuple(problem.assignment.tolist())], set[tuple[int, ...]]()
    while waiting:
        at = np.array(waiting.pop())
        placement = Arrangement(problem, at)
        for pod in np.flatnonzero(at != target).tolist():
            if placement.is_open(pod, int(target[pod])):
                after = (*at[:pod].tolist(), int(target[pod]), *at[pod + 1 :].tolist())
                waiting += [] if after in seen else [after]
                seen.add(after)
    return tuple(target.tolist()) in seen


def moved_somewhere(problem: Problem, rng: np.random.Generator) -> Ints:
    """Where pods are after moves that no order might make: the last one of each is what counts."""
    placement, pods = Arrangement(problem), np.flatnonzero(problem.evictable)
    for _ in range(12):
        choices = np.argwhere(placement.open_moves(pods, np.arange(problem.num_nodes)))
        if len(choices):
            row, node = choices[int(rng.integers(len(choices)))].tolist()
            placement.move(int(pods[row]), node)
    return placement.at


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("kind", [None, AtMost, MaxSkew, MinDomains, Together])
def test_an_order_is_found_where_there_is_one(kind: type[Rule] | None, seed: int) -> None:
    """Where there is none, pods are left out, and what is left is sound."""
    rng = np.random.default_rng(seed)
    problem = tight(kind, rng)
    target = moved_somewhere(problem, rng)

    ordered = order_moves(problem, target)

    left_out: Sequence[int] = np.flatnonzero(ordered.assignment != target).tolist()
    assert sorted(ordered.blocked) == left_out
    assert (ordered.assignment == np.where(np.isin(np.arange(len(target)), left_out), problem.assignment, target)).all()
    assert all(ordered.waves)
    assert replay(problem, ordered.waves, ordered.assignment) == []
    assert (left_out == []) == (an_order_leads_to(problem, target) or (target == problem.assignment).all())
