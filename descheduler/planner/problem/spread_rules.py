"""Topology spread as rules of the optimizer, which count pods of a constraint as they are moved."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence

import numpy as np

from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.model.selection.affinity import NodeMatch, TopologySpreadConstraint, match_node
from descheduler.optimizer.arrays import Bools, Ints
from descheduler.optimizer.rules import MaxSkew

__all__ = ["spread_rules"]

_HARD, _HONOR = "DoNotSchedule", "Honor"


class _Group:
    """Pods that state the same constraint about themselves; `pod` is one of them."""

    def __init__(self, constraint: TopologySpreadConstraint, pod: Pod) -> None:
        self.constraint, self.pod = constraint, pod
        self.members: list[int] = []


def spread_rules(pods: Sequence[Pod], nodes: Sequence[Node], *, holds_first: bool = False) -> Iterator[MaxSkew]:
    """Rules from the constraints with `DoNotSchedule` of `pods`, whose places in this are the pods of the rules.

    Pods that a constraint selects and that do not state it are not counted. `holds_first` says that room is held for
    replacements while their pods are still there.
    """
    for (key, _), groups in sorted(_groups(pods).items(), key=lambda item: item[0]):
        values = sorted({node.labels[key] for node in nodes if key in node.labels})
        number = {value: index for index, value in enumerate(values)}
        domain = np.array([number.get(node.labels.get(key, ""), -1) for node in nodes], dtype=np.int64)
        group = np.full(len(pods), -1, dtype=np.int64)
        there = np.zeros((len(groups), len(values)), bool)
        for index, each in enumerate(groups.values()):
            group[each.members] = index
            there[index] = _there(each, domain, nodes, len(values))
        skew = np.array([each.constraint.max_skew for each in groups.values()], dtype=np.int64)
        yield MaxSkew(group, domain, skew, there, holds_first)


def _there(group: _Group, domain: Ints, nodes: Sequence[Node], num_domains: int) -> Bools:
    """bool[D]: the domains of which the emptiest one counts; none where there are fewer than `minDomains`."""
    spec, there = group.pod.spec, np.zeros(num_domains, bool)
    is_choosy = bool(spec.node_selector) or (spec.affinity is not None and spec.affinity.node_required is not None)
    if group.constraint.node_affinity_policy == _HONOR and is_choosy:
        found = (
            place
            for node, place in zip(nodes, domain.tolist(), strict=True)
            if match_node(spec.node_selector, spec.affinity, node.name, node.labels) is NodeMatch.MATCHES
        )
        there[sorted({place for place in found if place >= 0})] = True
    else:
        there[:] = True
    least = group.constraint.min_domains
    return there if least is None or there.sum() >= least else np.zeros(num_domains, bool)


def _groups(pods: Sequence[Pod]) -> Mapping[tuple[str, int], Mapping[Hashable, _Group]]:
    """The groups of each rule, in which a pod is once: by key, and which of its constraints with that it is."""
    found: defaultdict[tuple[str, int], dict[Hashable, _Group]] = defaultdict(dict)
    for number, pod in enumerate(pods):
        seen = Counter[str]()
        for constraint in pod.spec.topology_spread:
            if constraint.when_unsatisfiable != _HARD or not _is_about(constraint, pod):
                continue
            key = constraint.topology_key
            same = tuple(pod.labels.get(label) for label in constraint.match_label_keys)
            groups = found[key, seen[key]]
            group = groups.setdefault((pod.namespace, constraint, same), _Group(constraint, pod))
            group.members.append(number)
            seen[key] += 1
    return found


def _is_about(constraint: TopologySpreadConstraint, pod: Pod) -> bool:
    return not constraint.error and constraint.selector.matches(pod.labels)
