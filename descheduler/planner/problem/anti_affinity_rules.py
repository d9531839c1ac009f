"""Required anti-affinity of pods against their own kind, as rules of the optimizer."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence

import numpy as np

from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.model.selection.affinity import PodAffinityTerm
from descheduler.optimizer.arrays import Ints
from descheduler.optimizer.rules import AtMost


def anti_affinity_rules(
    pods: Sequence[Pod], nodes: Sequence[Node], changed: Mapping[int, Pod], *, for_bounds: bool = False
) -> list[AtMost]:
    """One rule a topology key, over `pods` and `nodes` by their places in these.

    Pods that keep apart by one selector are a group, whatever owns them. Terms against other pods are not among the
    rules: they count as they are now. Of the `changed` pods, by number, replacements have other labels or rules. Those
    whose replacements keep apart from others are in no group; `for_bounds` there are no groups with such pods.
    """
    groups: dict[str, dict[Hashable, list[int]]] = {}
    left: set[tuple[str, Hashable]] = set()
    for number, pod in enumerate(pods):
        after = _kept_apart_by(changed[number]) if number in changed else None
        for key, kind in _kept_apart_by(pod):
            if after is None or (key, kind) in after:
                groups.setdefault(key, {}).setdefault(kind, []).append(number)
            else:
                left.add((key, kind))
    for key, kind in left if for_bounds else ():
        groups.get(key, {}).pop(kind, None)
    return [_at_most_one(key, list(found.values()), len(pods), nodes) for key, found in sorted(groups.items()) if found]


def _kept_apart_by(pod: Pod) -> Sequence[tuple[str, Hashable]]:
    """(topology key, what tells the pods apart that keep apart by it) of each term against its own kind."""
    return [(term.topology_key, (pod.namespace, term.selector)) for term in terms_against_own_kind(pod)]


def terms_against_own_kind(pod: Pod) -> Iterable[PodAffinityTerm]:
    """The terms of required anti-affinity that a pod has against pods like itself, one a topology key."""
    affinity = pod.spec.affinity
    if affinity is None:
        return ()
    found = (term for term in affinity.anti_required if not term.error and term.selector.matches(pod.labels))
    return {term.topology_key: term for term in found}.values()


def _at_most_one(key: str, groups: Sequence[Sequence[int]], num_pods: int, nodes: Sequence[Node]) -> AtMost:
    group = np.full(num_pods, -1, dtype=np.int64)
    for number, members in enumerate(groups):
        group[list(members)] = number
    return AtMost(group, _domains(node.labels.get(key) for node in nodes), np.ones(len(groups), dtype=np.int64))


def _domains(values: Iterable[str | None]) -> Ints:
    """int64[N]: the number of each node's value, -1 without one."""
    known: dict[str, int] = {}
    found = [-1 if value is None else known.setdefault(value, len(known)) for value in values]
    return np.array(found, dtype=np.int64)
