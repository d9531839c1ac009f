"""What a session says before its first action, in the form in which it was recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cmp_to_key
from typing import Any

import numpy as np

from descheduler.placement.volcano.actions import may_suffice, victims_in_order
from descheduler.placement.volcano.jobs import Job, Status, Task
from descheduler.placement.volcano.nodes import Nodes
from descheduler.placement.volcano.order import Heap
from descheduler.placement.volcano.plugins.drf import DominantShares, QueueTreeNode
from descheduler.placement.volcano.plugins.queue_shares import QueueShares
from descheduler.placement.volcano.session import Session

Figures = Mapping[str, Any]


def figures_of(session: Session, wanted: Figures) -> dict[str, Any]:
    """The figures that `wanted` has; of a cluster of GPUs scores are those among the nodes that fit."""
    found: dict[str, Any] = {
        "total": session.nodes.total,
        "jobs": {job.id: _job(session, job) for job in session.jobs.values()},
        "order": _order(session),
    }
    if "queues" in wanted:
        found["queues"] = {plugin: _accounts(shares) for plugin, shares in _shares(session)}
    dominant = session.accounts.get("drf")
    if "drf" in wanted and isinstance(dominant, DominantShares):
        found["drf"] = {"jobs": {job.id: dominant.of(job) for job in session.jobs.values()}}
        if dominant.tree is not None:
            found["drf"]["tree"] = _tree(dominant.tree.root)
    tasks = [task for job in session.jobs.values() for task in job.tasks.values()]
    names = session.cluster.table.names
    found["nodes"] = {names[node]: _node(session.nodes, node) for node in session.nodes.is_there.nonzero()[0].tolist()}
    found["tasks"] = {task.key: _task(task) for task in tasks}
    pending = {task.key: task for task in tasks if task.status is Status.PENDING}
    found["fits"] = {key: _fits(session, pending[key]) for key in wanted.get("fits", ())}
    found["scores"] = {key: _scores(session, pending[key], of) for key, of in wanted.get("scores", {}).items()}
    found["queue_gates"] = [_gates(session, pending[gate["pod"]]) for gate in wanted.get("queue_gates", ())]
    by_key = {task.key: task for node in session.nodes.tasks for task in node.values()}
    found["victims"] = [_victims(session, pending[entry["pod"]], entry, by_key) for entry in wanted.get("victims", ())]
    return found


def popped(heap: Heap[Any]) -> Iterator[Any]:
    """All of a priority queue, the first first."""
    while heap:
        yield heap.pop()


def queues_after(session: Session) -> dict[str, Any]:
    """What queues hold after the actions."""
    return {
        name: {"plugin": plugin, "allocated": each.allocated, "inqueue": each.inqueue, "share": each.share}
        for plugin, shares in _shares(session)
        for name, each in shares.by_queue.items()
    }


def _job(session: Session, job: Job) -> Figures:
    tiers = session.tiers
    return {
        "priority": job.priority,
        "min_available": job.min_available,
        "ready": job.num_ready,
        "waiting": job.num_waiting,
        "valid_tasks": job.num_valid,
        "pending_best_effort": job.num_pending_best_effort,
        "allocated": job.allocated,
        "elastic": job.elastic,
        "job_ready": tiers.all_of("job_ready", job),
        "job_pipelined": tiers.votes_for("job_pipelined", job),
        "job_starving": tiers.is_starving(job),
        "invalid_reason": tiers.fault_of(job),
    }


def _shares(session: Session) -> list[tuple[str, QueueShares]]:
    return [(plugin, found) for plugin, found in session.accounts.items() if isinstance(found, QueueShares)]


def _accounts(shares: QueueShares) -> Figures:
    return {
        name: {
            "allocated": each.allocated,
            "request": each.request,
            "inqueue": each.inqueue,
            "elastic": each.elastic,
            "realCapability": each.capability,
            "guarantee": each.queue.guarantee,
            "deserved": each.deserved,
            "share": each.share,
        }
        for name, each in shares.by_queue.items()
    }


def _tree(node: QueueTreeNode) -> Figures:
    found: dict[str, Any] = {
        "allocated": node.allocated,
        "share": node.share,
        "saturated": node.is_saturated,
        "weight": node.weight,
    }
    if node.request is None:
        found["children"] = {name: _tree(child) for name, child in node.children.items()}
    return found


def _order(session: Session) -> Figures:
    tiers, jobs = session.tiers, session.jobs.values()
    queues = [queue for queue in session.queues.values() if any(job.queue == queue.name for job in jobs)]
    by_queue = {queue.name: [job for job in jobs if job.queue == queue.name] for queue in queues}
    pending = {job.id: [task for task in job.tasks.values() if task.status is Status.PENDING] for job in jobs}
    return {
        "queues": [queue.name for queue in _sorted(queues, tiers.queue_is_less)],
        "jobs": {name: [job.id for job in _sorted(found, tiers.job_is_less)] for name, found in by_queue.items()},
        "tasks": {
            name: [task.key for task in _sorted(found, tiers.task_is_less)] for name, found in pending.items() if found
        },
        "overused": {queue.name: tiers.any_of("overused", queue) for queue in queues},
    }


def _sorted(items: Iterable[Any], is_less: Callable[[Any, Any], bool]) -> list[Any]:
    return sorted(items, key=cmp_to_key(lambda left, right: -1 if is_less(left, right) else 1))


def _gates(session: Session, task: Task) -> Figures:
    queue = session.queues[session.job_of(task).queue]
    return {
        "pod": task.key,
        "queue": queue.name,
        "overused": session.tiers.any_of("overused", queue),
        "allocatable": session.tiers.all_of("allocatable", queue, task),
        "preemptive": session.tiers.all_of("preemptive", queue, task),
    }


def _node(nodes: Nodes, node: int) -> Figures:
    allocatable = nodes.amounts(nodes.allocatable, node)
    return {
        "allocatable": allocatable,
        "max_pods": allocatable["pods"],
        "idle": nodes.amounts(nodes.idle, node),
        "used": nodes.amounts(nodes.used, node),
        "releasing": nodes.amounts(nodes.releasing, node),
        "future_idle": nodes.amounts(nodes.future_idle, node),
    }


def _task(task: Task) -> Figures:
    return {
        "best_effort": task.is_best_effort,
        "gated": task.is_gated,
        "preemptable": task.is_preemptable,
        "priority": task.priority,
        "request": task.request,
        "role": task.role,
        "status": task.status.value,
    }


def _fits(session: Session, task: Task) -> Figures:
    codes = session.codes(task)
    there = session.nodes.is_there.nonzero()[0].tolist()
    return {session.cluster.table.names[node]: int(codes[node]) for node in there}


def _scores(session: Session, task: Task, wanted: Mapping[str, float]) -> Figures:
    index = session.cluster.table.index
    among = np.zeros(len(index), dtype=bool)
    among[[index[name] for name in wanted]] = True
    scores = session.tiers.scores(task, among)
    return {name: float(scores[index[name]]) for name in wanted}


def _victims(session: Session, task: Task, entry: Figures, by_key: Mapping[str, Task]) -> Figures:
    """The answers about the candidates in the order in which they were handed over."""
    point = "reclaimable" if entry["kind"] == "reclaim" else "preemptable"
    candidates = [by_key[key] for key in entry["candidates"]]
    victims = session.tiers.victims(point, task, candidates)
    plugins = {
        plugin.option.name: callback(task, candidates)
        for tier in session.tiers.tiers
        for plugin in tier
        if (callback := getattr(plugin.callbacks, point)) is not None
    }
    node = session.cluster.table.index[entry["node"]]
    return {
        "kind": entry["kind"],
        "pod": task.key,
        "node": entry["node"],
        "candidates": entry["candidates"],
        "plugins": {
            name: {"victims": [each.key for each in found.tasks], "vote": found.vote} for name, found in plugins.items()
        },
        "victims": [each.key for each in victims],
        "eviction_order": [each.key for each in popped(victims_in_order(session, victims))],
        "enough": may_suffice(session, task, node, victims),
    }
