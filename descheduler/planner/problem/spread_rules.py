"""Topology spread as rules of the optimizer: no domain gets more pods than the emptiest one has, and maxSkew."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.model.selection.affinity import TopologySpreadConstraint
from descheduler.optimizer.arrays import Bools, Ints
from descheduler.optimizer.rules import AtMost

__all__ = ["spread_rules"]

_HARD = "DoNotSchedule"


class _Group:
    """Pods that state the same constraint about themselves."""

    def __init__(self, constraint: TopologySpreadConstraint) -> None:
        self.constraint = constraint
        self.members: list[int] = []


def spread_rules(pods: Sequence[Pod], nodes: Sequence[Node]) -> Iterator[AtMost]:
    """Rules from the constraints with `DoNotSchedule` of `pods`, whose places in this are the pods of the rules.

    They are a little stricter than the scheduler: the emptiest domain counts as it is now, although it may be filled by
    the same plan. Pods that a constraint selects and that do not state it are not counted.
    """
    for found in _domains(pods, nodes):
        group = np.full(len(pods), -1, dtype=np.int64)
        for index, each in enumerate(found.groups):
            group[each.members] = index
        limits = [_least(each.constraint, found.taken(each, pods)) for each in found.groups]
        yield AtMost(group, found.domain, np.array(limits, dtype=np.int64))


def uneven_moves(pods: Sequence[Pod], nodes: Sequence[Node]) -> Iterator[tuple[Sequence[int], Bools]]:
    """Pods by their places in `pods`, and nodes, bool[N], that each of them alone may not be moved to as things are.

    A pod that leaves the emptiest domain makes it emptier, so that fewer pods are allowed in the others.
    """
    for found in _domains(pods, nodes):
        for each in found.groups:
            taken = np.array(found.taken(each, pods), dtype=np.int64)
            if _is_short(each.constraint, len(taken)):
                continue
            for domain in np.flatnonzero((taken > 0) & (taken == taken.min())).tolist():
                is_closed = taken + 1 - (taken.min() - 1) > each.constraint.max_skew
                is_closed[domain] = False
                leaving = [number for number in each.members if found.domain_of.get(pods[number].node_name) == domain]
                yield leaving, np.append(is_closed, False)[found.domain]


class _Domains(NamedTuple):
    """The domains of one topology key: of each node by its place (int64[N]) and by its name, -1 without one."""

    groups: Sequence[_Group]
    domain: Ints
    domain_of: Mapping[str, int]
    num_domains: int

    def taken(self, group: _Group, pods: Sequence[Pod]) -> Sequence[int]:
        """How many pods of the group each domain has."""
        found = Counter(self.domain_of.get(pods[member].node_name, -1) for member in group.members)
        return [found[domain] for domain in range(self.num_domains)]


def _domains(pods: Sequence[Pod], nodes: Sequence[Node]) -> Iterator[_Domains]:
    """Each topology key as often as some pod states constraints with it."""
    for (key, _), groups in sorted(_groups(pods).items(), key=lambda item: item[0]):
        values = sorted({node.labels[key] for node in nodes if key in node.labels})
        number = {value: index for index, value in enumerate(values)}
        domain_of = {node.name: number.get(node.labels.get(key, ""), -1) for node in nodes}
        domain = np.array([domain_of[node.name] for node in nodes], dtype=np.int64)
        yield _Domains(list(groups.values()), domain, domain_of, len(values))


def _groups(pods: Sequence[Pod]) -> Mapping[tuple[str, int], Mapping[Hashable, _Group]]:
    """The groups of each rule, in which a pod is once: by key, and which of its constraints with that it is."""
    found: defaultdict[tuple[str, int], dict[Hashable, _Group]] = defaultdict(dict)
    for number, pod in enumerate(pods):
        seen = Counter[str]()
        for constraint in pod.spec.topology_spread:
            if not _is_hard(constraint) or not constraint.selector.matches(pod.labels):
                continue
            key = constraint.topology_key
            same = tuple(pod.labels.get(label) for label in constraint.match_label_keys)
            groups = found[key, seen[key]]
            group = groups.setdefault((pod.namespace, constraint, same), _Group(constraint))
            group.members.append(number)
            seen[key] += 1
    return found


def _is_hard(constraint: TopologySpreadConstraint) -> bool:
    return constraint.when_unsatisfiable == _HARD and not constraint.error


def _least(constraint: TopologySpreadConstraint, taken: Sequence[int]) -> int:
    """How many pods of the group a domain may have; of fewer domains than minDomains the emptiest counts as empty."""
    return constraint.max_skew + (0 if _is_short(constraint, len(taken)) else min(taken, default=0))


def _is_short(constraint: TopologySpreadConstraint, num_domains: int) -> bool:
    return constraint.min_domains is not None and num_domains < constraint.min_domains
