"""Scarce resources, beside which nodes keep cpu and memory for the tasks that ask for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from descheduler.model.requests import CPU, MEMORY
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.volcano.jobs import Task
from descheduler.placement.volcano.session import Session
from descheduler.placement.volcano.tiers import OPEN, UNRESOLVABLE, NodeCodes

__all__ = ["ScarceResource", "proportional_codes"]

_MEGA = 10**6


class ScarceResource(NamedTuple):
    """A resource, and how much cpu (in milli) and memory (in millions of bytes) is kept for each thousandth of it."""

    name: str
    cpu: float
    memory: float

    @classmethod
    def of(cls, name: str, cpu: float, memory: float) -> ScarceResource:
        """What is stated of it; rates below 0 count as 1."""
        return cls(name, 1 if cpu < 0 else cpu, 1 if memory < 0 else memory)


def proportional_codes(session: Session, task: Task, scarce: Sequence[ScarceResource]) -> NodeCodes:
    """The nodes on which a task that asks for no scarce resource leaves too little beside what is idle of one.

    Nodes that do not state the resource, not even as 0, keep nothing.
    """
    nodes = session.nodes
    codes: NodeCodes = np.full(len(nodes.is_there), OPEN, dtype=np.int8)
    if any(task.request.get(each.name, 0.0) for each in scarce):
        return codes
    cpu, memory = (nodes.idle[nodes.rows[name]] - task.request[name] for name in (CPU, MEMORY))
    for each in scarce:
        if each.name in nodes.rows:
            idle = nodes.idle[nodes.rows[each.name]]
            is_short = (cpu < idle * each.cpu) | (memory < idle * each.memory * _MEGA)
            codes[is_short & _states(session, each.name)] = UNRESOLVABLE
    return codes


def _states(session: Session, name: str) -> BoolMask:
    def find() -> BoolMask:
        return np.array([name in node.allocatable for node in session.cluster.table.nodes], dtype=bool)

    return session.kept(("scarce", name), find)
