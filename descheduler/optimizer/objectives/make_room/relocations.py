"""Room on machines with parts, where a host lacks what its free devices need, or a device what its host has.

Best-fit leaves free devices on hosts whose cores are used up, and free cores on hosts whose devices are. A pod fits
neither, and no pod has a place to go to, so that single moves gain little. Two that hang together do: a light pod goes
to one of the last places that fit it, a heavy pod to where the light one was, and pending pods to where the heavy one
was. A place that was given to a pending pod before is taken from it again where more of them fit for it elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.arrays import PENDING, Bools, Floats, Ints
from descheduler.optimizer.limits import Budget
from descheduler.optimizer.objectives.fullest_node import fullest
from descheduler.optimizer.objectives.make_room.pending import PendingUnits
from descheduler.optimizer.parts import UNLIMITED, Parts

_LEAST_GAINS = (2.0, 1.0, 0.5, 0.3)
"""Pending pods placed for each pod moved, pass by pass: what gains much goes first, for moves are limited."""
_MOST_LEAVING, _MOST_LIGHT = 8, 4
"""Kinds of pods that may leave a machine, and of those that may make place for each, which are tried."""
_PATIENCE = 60
"""Machines in a row that gain nothing, after which a pass is over at first."""


@dataclass(frozen=True, slots=True)
class _Tried:
    """Moves that were made and undone, (pod, node) each, and what they gain for each pod moved."""

    gain: float
    steps: tuple[tuple[int, int], ...]


class Relocations:
    """Implements `objective.Annealer`: machine by machine, the relocation that gains most; pods of gangs wait."""

    share = 1.0

    def __init__(self, pending: PendingUnits, parts: Parts, placement: Arrangement, rng: np.random.Generator) -> None:
        problem = placement.problem
        self._pending, self._parts, self._placement, self._rng = pending, parts, placement, rng
        kinds, kind = np.unique(np.column_stack((problem.need, problem.pod_class)), axis=0, return_inverse=True)
        self._kind, self._class_of, self._need = kind.reshape(-1), kinds[:, -1], kinds[:, :-1].T.astype(np.float64)
        self._singles = pending.pods[pending.gang[pending.pods] < 0]
        self._movable = np.flatnonzero(problem.evictable & (problem.assignment != PENDING))
        self._is_limited = parts.capacity.T < UNLIMITED
        self._work = 0
        self._left = list(_LEAST_GAINS)
        self._waiting: list[int] = []
        self._in_vain, self._patience, self._has_gained = 0, _PATIENCE, False
        self._holes: dict[int, int] = {}

    def run(self, budget: Budget, whole: Budget, until: float) -> None:
        """Goes on until `budget` is over, `whole` is at the share `until`, or no machine gains enough."""
        while self._left and not budget.is_over and whole.progress < until:
            if not self._waiting:
                self._waiting = self._machines()
            machine = self._waiting.pop()
            self._in_vain += 1
            while not budget.is_over and self._improve(machine, self._left[0], budget):
                self._in_vain, self._has_gained = 0, True
            if not self._waiting or self._in_vain >= self._patience:
                self._in_vain, self._waiting = 0, []
                self._left.pop(0)
            if not self._left:
                self._start_over()

    def _start_over(self) -> None:
        """All passes again, after those that gained nothing with more patience; none where there was enough of it."""
        if not self._has_gained:
            self._patience *= 2
        if self._patience < 2 * len(self._parts.nodes_of):
            self._left, self._has_gained = list(_LEAST_GAINS), False

    def _machines(self) -> list[int]:
        """All machines, those last that have most left of what pending pods ask for; about, so that seeds differ."""
        placement = self._placement
        left = np.where(self._is_limited, self._parts.capacity.T - placement.usage, 0.0)
        wanted = placement.need[:, self._singles].sum(axis=1)
        share = (left * (wanted / np.maximum(left.sum(axis=1), 1.0) ** 2)[:, None]).sum(axis=0)
        by_machine = np.bincount(self._parts.machine_of, weights=share)
        found: list[int] = np.argsort(by_machine * self._rng.uniform(0.8, 1.25, len(by_machine))).tolist()
        return found

    def _improve(self, machine: int, least: float, budget: Budget) -> bool:
        """Makes the best relocation of the machine that gains at least `least`; whether there was one."""
        best = _Tried(0.0, ())
        for steps in self._openings(machine):
            tried = self._try_steps(machine, steps)
            best = max(best, tried, key=lambda one: one.gain)
            budget.spend_evaluations(self._work)
            self._work = 0
        if best.gain < least:
            return False
        for pod, node in best.steps:
            self._placement.move(pod, node)
        self._holes.clear()
        return True

    def _openings(self, machine: int) -> Iterator[list[tuple[int, int]]]:
        """Moves that take a pod off the machine: to a place that fits it, or to one that a lighter pod leaves."""
        for pod in self._leaving(machine).tolist():
            target = self._best_fit(pod, machine)
            if target != PENDING:
                yield [(pod, target)]
                continue
            for light in self._light_pods(pod, machine):
                yield from self._swap_in(pod, light, machine)

    def _leaving(self, machine: int) -> Ints:
        """Pods of the machine that were there before the plan, one of each kind and node's rest, the largest first."""
        placement = self._placement
        nodes = self._parts.nodes_of[machine]
        pods = np.concatenate([placement.evictable_on(node) for node in nodes.tolist()])
        pods = pods[placement.origins[pods] == placement.at[pods]]
        pods = pods[placement.may_leave(pods)]
        pods = pods[self._makes_room(pods, machine)]
        look = np.column_stack((self._kind[pods], placement.free[:, placement.at[pods]].T))
        _, first = np.unique(look, axis=0, return_index=True)
        pods = pods[first]
        share = placement.need[:, pods] / np.maximum(placement.problem.capacity.T[:, placement.at[pods]], 1)
        return self._first_of(pods, -share.sum(axis=0), _MOST_LEAVING)

    def _makes_room(self, pods: Ints, machine: int) -> Bools:
        """bool[k]: whether some pending pod fits the machine where each of the pods, which are on it, has left."""
        placement, parts = self._placement, self._parts
        nodes = parts.nodes_of[machine]
        shared = (parts.taken[placement.at[pods]][:, None, :, None] == parts.taken[nodes][:, None, :]) & (
            parts.taken[nodes][:, None, :] >= 0
        )
        left = np.append(parts.capacity.T - placement.usage, np.full((len(placement.need), 1), np.inf), axis=1)
        by_part = left[:, None, parts.taken[nodes]] + placement.need[:, pods][:, :, None, None] * shared.any(axis=2)
        free = by_part.min(axis=3)
        kinds = self._waiting_kinds()
        fits = placement.problem.allowed[self._class_of[kinds]][:, nodes][:, None, :]
        for need, room in zip(self._need[:, kinds], free, strict=True):
            fits = fits & (need[:, None, None] <= room)
        return np.asarray(fits.any(axis=(0, 2)))

    def _waiting_kinds(self) -> Ints:
        return np.unique(self._kind[self._singles[self._placement.at[self._singles] == PENDING]])

    def _light_pods(self, pod: int, machine: int) -> list[int]:
        """Pods of other machines at whose node `pod` would fit without them, one of each of the lightest kinds."""
        placement, pods = self._placement, self._movable
        pods = pods[(placement.at[pods] == placement.origins[pods])]
        at = placement.at[pods]
        fits = placement.problem.allowed[placement.problem.pod_class[pod], at] & (self._parts.machine[at] != machine)
        for resource, need in enumerate(placement.need[:, pod].tolist()):
            fits &= need <= placement.free[resource, at] + placement.need[resource, pods]
        self._work += fits.size * len(placement.need)
        pods = pods[fits]
        pods = pods[placement.may_leave(pods)]
        _, first = np.unique(self._kind[pods], return_index=True)
        pods = pods[first]
        share = placement.need[:, pods] / np.maximum(placement.need[:, [pod]], 1)
        lightest: list[int] = self._first_of(pods, share.sum(axis=0), _MOST_LIGHT).tolist()
        return lightest

    def _first_of(self, pods: Ints, size: Floats, most: int) -> Ints:
        """The smallest, about: each round tries others too."""
        first: Ints = pods[np.argsort(size * self._rng.uniform(0.5, 2.0, len(size)), kind="stable")][:most]
        return first

    def _swap_in(self, pod: int, light: int, machine: int) -> Iterator[list[tuple[int, int]]]:
        """`light` goes where it fits, or else to the place of a pending pod, and `pod` to where it was."""
        here = int(self._placement.at[light])
        target = self._best_fit(light, machine)
        if target != PENDING:
            yield [(light, target), (pod, here)]
            return
        guest = self._displaced(light, machine)
        if guest != PENDING:
            yield [(guest, PENDING), (light, int(self._placement.at[guest])), (pod, here)]

    def _displaced(self, pod: int, machine: int) -> int:
        """A placed pending pod of another machine in whose place `pod` fits; -1: none."""
        placement = self._placement
        guests = self._singles[placement.at[self._singles] != PENDING]
        at = placement.at[guests]
        fits = placement.problem.allowed[placement.problem.pod_class[pod], at] & (self._parts.machine[at] != machine)
        fits &= (placement.need[:, [pod]] <= placement.free[:, at] + placement.need[:, guests]).all(axis=0)
        return int(guests[fits][0]) if fits.any() else PENDING

    def _best_fit(self, pod: int, machine: int) -> int:
        """The fullest node of another machine that the pod may go to; -1: none."""
        kind = int(self._kind[pod])
        known = self._holes.get(kind)
        if known is not None and (known == PENDING or self._may_go(pod, known, machine)):
            return known
        found = self._find_fit(pod, machine)
        if known is None:
            self._holes[kind] = found
        return found

    def _may_go(self, pod: int, node: int, machine: int) -> bool:
        return int(self._parts.machine[node]) != machine and self._placement.is_open(pod, node)

    def _find_fit(self, pod: int, machine: int) -> int:
        placement = self._placement
        nodes = np.flatnonzero(placement.problem.allowed[placement.problem.pod_class[pod]])
        for need, free in zip(placement.need[:, pod], placement.free, strict=True):
            nodes = nodes[free[nodes] >= need]
        nodes = nodes[self._parts.machine[nodes] != machine]
        nodes = nodes[placement.open_moves(np.array([pod]), nodes)[0]]
        self._work += placement.free.size
        return fullest(placement, nodes) if len(nodes) else PENDING

    def _try_steps(self, machine: int, steps: list[tuple[int, int]]) -> _Tried:
        """What the steps gain with all pending pods that fit the machine then; undone."""
        placement = self._placement
        done: list[tuple[int, int, int]] = []
        gain, moved = 0.0, 0
        for pod, node in steps:
            if node != PENDING and not placement.is_open(pod, node):
                break
            moved += int(node != PENDING)
            done.append((pod, int(placement.at[pod]), node))
            placement.move(pod, node)
        else:
            done.extend(self._land(machine))
            landed = sum(int(self._pending.weight[pod]) * self._landed(pod, before, node) for pod, before, node in done)
            gain = landed / max(moved, 1)
        for pod, before, _ in reversed(done):
            placement.move(pod, before)
        complete = tuple((pod, node) for pod, _, node in done)
        return _Tried(gain, complete)

    def _landed(self, pod: int, before: int, node: int) -> int:
        if self._placement.origins[pod] != PENDING:
            return 0
        return int(node != PENDING) - int(before != PENDING)

    def _land(self, machine: int) -> list[tuple[int, int, int]]:
        """Places pending pods on the machine, those first that take the least share of what it has left."""
        placement = self._placement
        nodes = self._parts.nodes_of[machine]
        waiting = self._singles[placement.at[self._singles] == PENDING]
        kinds = np.unique(self._kind[waiting])
        fits = placement.problem.allowed[self._class_of[kinds]][:, nodes]
        for need, free in zip(self._need[:, kinds], placement.free[:, nodes], strict=True):
            fits &= need[:, None] <= free
        kinds = kinds[fits.any(axis=1)]
        left = self._left_on(machine)
        share = (self._need[:, kinds] / left[:, None]).sum(axis=0)
        landed: list[tuple[int, int, int]] = []
        for row in np.argsort(share, kind="stable").tolist():
            for pod in waiting[self._kind[waiting] == kinds[row]].tolist():
                node = self._open_node(pod, nodes)
                if node == PENDING:
                    break
                landed.append((pod, PENDING, node))
                placement.move(pod, node)
        self._work += nodes.size * len(kinds) * len(self._need)
        return landed

    def _open_node(self, pod: int, nodes: Ints) -> int:
        """The fullest of `nodes` that the pod may go to; -1: none."""
        nodes = nodes[self._placement.open_moves(np.array([pod]), nodes)[0]]
        return fullest(self._placement, nodes) if len(nodes) else PENDING

    def _left_on(self, machine: int) -> Floats:
        """float64[R]: what the parts of the machine have left in total, at least 1."""
        parts = np.flatnonzero(self._parts.machine_of == machine)
        left = self._parts.capacity.T[:, parts] - self._placement.usage[:, parts]
        total: Floats = np.maximum(np.sum(left, axis=1, where=self._is_limited[:, parts]), 1.0)
        return total
