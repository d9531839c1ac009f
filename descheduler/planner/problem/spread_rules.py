"""Topology spread as rules of the optimizer: no domain gets more pods than the emptiest one has, and maxSkew."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence

import numpy as np

from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.model.selection.affinity import TopologySpreadConstraint
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
    for (key, _), groups in sorted(_groups(pods).items(), key=lambda item: item[0]):
        values = sorted({node.labels[key] for node in nodes if key in node.labels})
        number = {value: index for index, value in enumerate(values)}
        domain_of = {node.name: number.get(node.labels.get(key, ""), -1) for node in nodes}
        group = np.full(len(pods), -1, dtype=np.int64)
        limits = []
        for index, each in enumerate(groups.values()):
            group[each.members] = index
            taken = Counter(domain_of.get(pods[member].node_name, -1) for member in each.members)
            limits.append(_least(each.constraint, [taken[value] for value in range(len(values))]))
        domain = np.array([domain_of[node.name] for node in nodes], dtype=np.int64)
        yield AtMost(group, domain, np.array(limits, dtype=np.int64))


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
    is_short = constraint.min_domains is not None and len(taken) < constraint.min_domains
    return constraint.max_skew + (0 if is_short else min(taken, default=0))
