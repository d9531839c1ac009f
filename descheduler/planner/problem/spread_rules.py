"""Topology spread as rules of the optimizer, which count pods of a constraint as they are moved."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from descheduler.model.pod import Pod
from descheduler.optimizer.arrays import PENDING, Bools, Ints
from descheduler.optimizer.rules import MaxSkew
from descheduler.placement.framework.extension_points import SpreadConstraint
from descheduler.placement.landings.openings import Openings


class _Group:
    """The pods that one constraint counts, by number: `members`, of which only some are `stating` it.

    `domain` is int64[N], `there` is bool[D] and `others` is int64[D], as rules have them.
    """

    def __init__(self, constraint: SpreadConstraint, stating: Sequence[int], columns: Ints) -> None:
        self.skew = constraint.max_skew
        self.stating = stating
        self.members: Sequence[int] = ()
        counted = constraint.counted
        ids, num = counted.ids[columns].astype(np.int64), counted.domains.num
        self.domain: Ints = np.where(ids < num, ids, -1)
        self.there: Bools = np.zeros(num, bool)
        self.there[counted.there if counted.num >= constraint.min_domains else []] = True
        self.others: Ints = np.zeros(num, np.int64)


def spread_rules(
    pods: Sequence[Pod],
    assignment: Ints,
    openings: Openings,
    columns: Ints,
    changed: Mapping[int, Pod],
    *,
    holds_first: bool = False,
    for_bounds: bool = False,
) -> Iterator[MaxSkew]:
    """Rules from the constraints with `DoNotSchedule` of `pods`, whose places in this are the pods of the rules.

    The nodes are those at `columns` of `openings`, and `assignment` has the node of each pod among them. All pods of
    the cluster count that a constraint selects, on nodes that it counts: those of `pods` as they are moved, whether
    they state it or not, the others where they are. With `holds_first`, room is held for replacements while their pods
    are still there.

    Replacements of the `changed` pods, by number, have other labels or constraints. A constraint that counts such a pod
    and not its replacement, or the other way round, counts that pod where it is; `for_bounds` there is no such
    constraint.
    """
    bins: defaultdict[bytes, list[tuple[list[_Group], Bools]]] = defaultdict(list)
    for group in _groups(pods, assignment, openings, columns, changed, for_bounds=for_bounds):
        known = bins[group.domain.tobytes()]
        # A pod is in one group of a rule at most.
        found = next((each for each in known if not each[1][group.members].any()), None)
        if found is None:
            known.append(found := ([], np.zeros(len(pods), bool)))
        found[0].append(group)
        found[1][group.members] = True
    for known in bins.values():
        for groups, _ in known:
            yield _rule(groups, len(pods), holds_first=holds_first)


def _rule(groups: Sequence[_Group], num_pods: int, *, holds_first: bool) -> MaxSkew:
    """One rule for groups of the same domains that share no pods."""
    number, is_free = np.full(num_pods, -1, np.int64), np.zeros(num_pods, bool)
    for index, group in enumerate(groups):
        number[group.members] = index
        is_free[group.members] = True
        is_free[group.stating] = False
    skew = np.array([group.skew for group in groups], np.int64)
    there, others = (np.array([getattr(group, name) for group in groups]) for name in ("there", "others"))
    return MaxSkew(
        number,
        groups[0].domain,
        skew,
        there,
        holds_first,
        free=is_free if is_free.any() else None,
        others=others if others.any() else None,
    )


def _groups(
    pods: Sequence[Pod],
    assignment: Ints,
    openings: Openings,
    columns: Ints,
    changed: Mapping[int, Pod],
    *,
    for_bounds: bool,
) -> Iterator[_Group]:
    """A group of each constraint that closes nodes to pods, with what of the counted pods is none of `pods`."""
    selected, replacing, numbers = _Selected(pods), _Selected(list(changed.values())), list(changed)
    states = {number: frozenset(openings.spread(replacement)) for number, replacement in changed.items()}
    for constraint, stating in _constraints(pods, openings).items():
        members = selected.by(constraint)
        uncertain = {numbers[row] for row in replacing.by(constraint)} ^ changed.keys() & set(members)
        stays = [number for number in stating if number not in states or constraint in states[number]]
        if (for_bounds and uncertain) or uncertain.issuperset(stays):
            continue
        group = _Group(constraint, [number for number in stays if number not in uncertain], columns)
        group.members = [number for number in members if number not in uncertain]
        at = assignment[group.members]
        here = np.where(at == PENDING, -1, group.domain[at])
        own = np.bincount(here[here >= 0], minlength=len(group.there))
        group.others = np.maximum(openings.spread_over(constraint)[:-1] - own, 0)
        yield group


def _constraints(pods: Sequence[Pod], openings: Openings) -> Mapping[SpreadConstraint, list[int]]:
    """The pods that state each constraint."""
    found = defaultdict[SpreadConstraint, list[int]](list)
    known: dict[tuple[str, int, int], Sequence[SpreadConstraint]] = {}
    for number, pod in enumerate(pods):
        if not pod.spec.topology_spread:
            continue
        key = pod.namespace, id(pod.spec), id(pod.labels)
        if key not in known:
            known[key] = openings.spread(pod)
        for constraint in dict.fromkeys(known[key]):
            found[constraint].append(number)
    return found


class _Selected:
    """Which of `pods` constraints select: of pods with equal labels it is asked once, if they have what is wanted."""

    def __init__(self, pods: Sequence[Pod]) -> None:
        self._alike = defaultdict[tuple[str, frozenset[tuple[str, str]]], list[int]](list)
        known: dict[int, frozenset[tuple[str, str]]] = {}
        for number, pod in enumerate(pods):
            if not pod.is_terminating:
                labels = known.setdefault(id(pod.labels), frozenset(pod.labels.items()))
                self._alike[pod.namespace, labels].append(number)
        self._in_namespace = defaultdict[str, list[frozenset[tuple[str, str]]]](list)
        self._with_label = defaultdict[tuple[str, str, str], list[frozenset[tuple[str, str]]]](list)
        for namespace, labels in self._alike:
            self._in_namespace[namespace].append(labels)
            for key, value in labels:
                self._with_label[namespace, key, value].append(labels)

    def by(self, constraint: SpreadConstraint) -> list[int]:
        """The pods that count for a constraint, ascending."""
        (namespace,), (selector,) = constraint.query.namespaces or ("",), constraint.query.selectors
        wanted = [each for each in selector.requirements if each.operator == "In" and len(each.values) == 1]
        candidates = self._in_namespace[namespace]
        if wanted:
            lists = (self._with_label[namespace, each.key, next(iter(each.values))] for each in wanted)
            candidates = min(lists, key=len)
        found = (labels for labels in candidates if constraint.query.covers(namespace, dict(labels)))
        return sorted(number for labels in found for number in self._alike[namespace, labels])
