"""Reads and writes the challenge's files (challenge.roadef.org/2012): whitespace-separated integers, gzip or plain."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from descheduler.optimizer import AtMost, MinDomains, Problem, Together, make_problem
from descheduler.optimizer.arrays import Ints
from tests.bench.roadef.reassign import Proportion, Reassign


@dataclass(frozen=True, slots=True, eq=False)
class Instance:
    """One instance: machines are nodes, processes pods, and services the groups of rules."""

    problem: Problem
    objective: Reassign


def read_instance(folder: Path, name: str) -> Instance:
    """The instance of `model_NAME.txt` and `assignment_NAME.txt` (or .gz). Raises ValueError where they end early."""
    cursor = _Cursor(_read_integers(folder / f"model_{name}.txt"))
    assignment = _read_integers(folder / f"assignment_{name}.txt")
    num_resources = cursor.one()
    resources = cursor.table(num_resources, 2)
    num_nodes = cursor.one()
    nodes = cursor.table(num_nodes, 2 + 2 * num_resources + num_nodes)
    spread, pairs = _read_services(cursor)
    pods = cursor.table(cursor.one(), 2 + num_resources)
    balances = cursor.table(cursor.one(), 4)
    process_weight, service_weight, machine_weight = cursor.take(3).tolist()
    service = pods[:, 0]
    problem = make_problem(
        pods[:, 1:-1],
        nodes[:, 2 : 2 + num_resources],
        assignment,
        cost=pods[:, -1] * process_weight,
        both_ends=resources[:, 0] != 0,
        rules=[
            AtMost(service, np.arange(num_nodes), np.ones(len(spread), np.int64)),
            MinDomains(service, nodes[:, 1], spread),
            Together(service, nodes[:, 0], pairs),
        ],
    )
    objective = Reassign(
        safety=nodes[:, 2 + num_resources : 2 + 2 * num_resources],
        weight=resources[:, 1],
        proportions=tuple(Proportion(per, wanted, target, cost) for per, wanted, target, cost in balances.tolist()),
        between=nodes[:, 2 + 2 * num_resources :] * machine_weight,
        group=service,
        group_weight=service_weight,
    )
    return Instance(problem, objective)


def write_assignment(path: Path, assignment: Ints) -> None:
    """Writes the machine of every process, on one line, as the challenge wants it."""
    path.write_text(" ".join(map(str, assignment.tolist())) + "\n")


def _read_services(cursor: _Cursor) -> tuple[Ints, Ints]:
    """(least number of locations of each service, pairs of a service and one it depends on)."""
    spread: list[int] = []
    pairs: list[tuple[int, int]] = []
    for service in range(cursor.one()):
        spread.append(cursor.one())
        pairs.extend((service, other) for other in cursor.take(cursor.one()).tolist())
    return np.array(spread, np.int64), np.array(pairs, np.int64).reshape(-1, 2)


def _read_integers(path: Path) -> Ints:
    found = path if path.exists() else path.with_name(path.name + ".gz")
    raw = found.read_bytes()
    return np.array((gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw).split(), dtype=np.int64)


class _Cursor:
    """Takes integers one after the other."""

    def __init__(self, integers: Ints) -> None:
        self._integers, self._next = integers, 0

    def take(self, count: int) -> Ints:
        taken = self._integers[self._next : self._next + count]
        if len(taken) < count:
            raise ValueError(f"the model ends after {len(self._integers)} integers, in the middle of a block")
        self._next += count
        return taken

    def one(self) -> int:
        return int(self.take(1)[0])

    def table(self, rows: int, columns: int) -> Ints:
        return self.take(rows * columns).reshape(rows, columns)
