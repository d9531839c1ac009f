"""rebalancer as a program: an environment of its own in the cache, and a problem of the optimizer as calls of its API.

rebalancer is Meta's solver for assignments (OSDI 2024, on PyPI), which needs Python 3.12 or later.
"""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from descheduler.optimizer import Problem
from descheduler.optimizer.arrays import Ints
from descheduler.optimizer.rules import AtMost
from tests.bench.planner.versus.comparison import MissingDataError

VERSION = "1.0.4"
Call = tuple[str, dict[str, object]]
"""A method of its solver and the arguments."""

_ABSOLUTE = 1
"""The kind of a limit; its Python API takes the number alone."""
_PYTHONS = ("3.12", "3.13", "3.14")
_START = """
import json, os, resource, sys
from rebalancer import ProblemSolver
told = json.load(sys.stdin)
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: told["cores"]])
solver = ProblemSolver(service_name="bench", service_scope="bench")
for method, arguments in told["calls"]:
    getattr(solver, method)(**arguments)
answer = solver.solve()["assignment"]
used = resource.getrusage(resource.RUSAGE_SELF)
json.dump({"assignment": answer, "cpu_seconds": used.ru_utime + used.ru_stime}, open(told["out"], "w"))
"""


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """Where its plan leads (int64[P]), and the seconds of CPU that the whole program took."""

    assignment: Ints
    cpu_seconds: float


def environment(cache: Path) -> Path:
    """Python with rebalancer, in an environment made once below `cache`. Raises MissingDataError where that fails."""
    python = cache / f"rebalancer-{VERSION}" / "bin" / "python"
    if (python.parent / "installed").exists():
        return python
    base = _base_python()
    for command in (
        [base, "-m", "venv", "--clear", str(python.parent.parent)],
        [str(python), "-m", "pip", "install", "--quiet", f"rebalancer=={VERSION}"],
    ):
        done = subprocess.run(command, env=_pyenv_of(base), capture_output=True, text=True, check=False)
        if done.returncode:
            raise MissingDataError(f"{' '.join(command)} failed: {done.stderr.strip()[-300:]}")
    (python.parent / "installed").touch()
    return python


def _base_python() -> str:
    for version in _PYTHONS:
        name = f"python{version}"
        try:
            found = subprocess.run([name, "--version"], env=_pyenv_of(name), capture_output=True, check=False)
        except OSError:
            continue
        if not found.returncode:
            return name
    raise MissingDataError(f"rebalancer {VERSION} needs one of Python {', '.join(_PYTHONS)} on the PATH")


def _pyenv_of(name: str) -> dict[str, str]:
    """The environment in which pyenv's `python3.12` is that version, whatever version is chosen otherwise."""
    return {**os.environ, "PYENV_VERSION": name.removeprefix("python")}


def calls_of(problem: Problem, ceiling: Ints | None = None) -> list[Call]:
    """The problem: pods as objects, nodes as containers, capacity (or `ceiling`), pinned pods and anti-affinity."""
    room = problem.capacity if ceiling is None else ceiling
    calls: list[Call] = [
        ("set_object_name", {"object_name": "pod"}),
        ("set_container_name", {"container_name": "node"}),
        ("set_assignment", {"container_to_objects": _pods_by_node(problem)}),
    ]
    for resource in range(problem.num_resources):
        need = {str(pod): float(amount) for pod, amount in enumerate(problem.need[:, resource].tolist())}
        name = f"resource{resource}"
        calls.append(("add_object_dimension", {"dimension_name": name, "object_to_value": need}))
        calls.append(("add_constraint", {"spec": {"capacitySpec": _limited("room", name, room[:, resource])}}))
    pinned = [str(pod) for pod in np.flatnonzero(~problem.evictable).tolist()]
    calls.append(("add_constraint", {"spec": {"avoidMovingSpec": {"name": "pinned", "objects": pinned}}}))
    for number, rule in enumerate(problem.rules):
        if isinstance(rule, AtMost):
            calls.extend(_apart(f"rule{number}", rule))
    return calls


def balance_goals(ceiling: Ints, seconds: float) -> list[Call]:
    """As little as possible above the ceiling (int64[N, R]), then as few moves as possible."""
    over: list[Call] = [
        ("add_goal", {"spec": {"capacitySpec": _limited("target", f"resource{resource}", limits)}, "tuple_pos": 0})
        for resource, limits in enumerate(ceiling.T)
    ]
    return [*over, *_fewest_moves(), _solver(seconds)]


def consolidation_goals(seconds: float) -> list[Call]:
    """As few nodes in use as possible, then as few moves as possible."""
    fewest = {"minimizeContainersSpec": {"name": "nodes", "scope": "node", "dimension": "pod_count"}}
    return [("add_goal", {"spec": fewest, "tuple_pos": 0}), *_fewest_moves(), _solver(seconds)]


def _fewest_moves() -> list[Call]:
    spec = {"name": "moves", "scope": "node", "dimension": "pod_count", "doNotNormalize": True}
    return [("add_goal", {"spec": {"minimizeMovementSpec": spec}, "tuple_pos": 1})]


def _solver(seconds: float) -> Call:
    kinds: list[dict[str, dict[str, object]]] = [{"singleMoveTypeSpec": {}}, {"swapMoveTypeSpec": {}}]
    local = {"solveTime": max(int(seconds), 1), "moveTypeList": kinds}
    return "add_solver", {"spec": {"localSearchSolverSpec": local}}


def _pods_by_node(problem: Problem) -> dict[str, list[str]]:
    pods: dict[str, list[str]] = {str(node): [] for node in range(problem.num_nodes)}
    for pod, node in enumerate(problem.assignment.tolist()):
        pods[str(node)].append(str(pod))
    return pods


def _limited(name: str, dimension: str, limits: Ints) -> dict[str, object]:
    by_node = {str(node): float(amount) for node, amount in enumerate(limits.tolist())}
    limit = {"type": _ABSOLUTE, "globalLimit": max(by_node.values()), "scopeItemLimits": by_node}
    return {"name": f"{name} of {dimension}", "scope": "node", "dimension": dimension, "limit": limit}


def _apart(name: str, rule: AtMost) -> list[Call]:
    """A partition of the pods, and how many of a group a node may have; domains are nodes in these worlds."""
    groups: dict[str, list[str]] = {}
    for pod, group in enumerate(rule.group.tolist()):
        if group >= 0:
            groups.setdefault(str(group), []).append(str(pod))
    by_group = {group: float(rule.limit[int(group)]) for group in groups}
    limit = {"type": _ABSOLUTE, "globalLimit": 1.0, "groupLimits": by_group}
    spec = {"name": name, "scope": "node", "partitionName": name, "limit": limit}
    return [
        ("add_partition", {"partition_name": name, "group_to_objects": groups}),
        ("add_constraint", {"spec": {"groupCountSpec": spec}}),
    ]


def run(python: Path, calls: list[Call], problem: Problem, *, cores: int, folder: Path) -> Answer:
    """Solves it in a process of its own on so many cores. Raises MissingDataError where the program fails."""
    out = folder / "answer.json"
    told = json.dumps({"calls": calls, "cores": cores, "out": str(out)})
    done = subprocess.run([str(python), "-c", _START], input=told, capture_output=True, text=True, check=False)
    if done.returncode:
        raise MissingDataError(f"rebalancer failed: {done.stderr.strip()[-300:]}")
    answer = json.loads(out.read_text())
    return Answer(
        np.array([int(answer["assignment"][str(pod)]) for pod in range(problem.num_pods)]), answer["cpu_seconds"]
    )
