"""Rules between pods, as arrays: each names the group of every pod and the domain of every node.

A pod belongs to at most one group of a rule and a node to at most one domain (-1: none); where a pod has several, there
are several rules. A rule that is broken today stays satisfied by a plan that does not make it worse.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from descheduler.optimizer.arrays import Bools, Ints


@dataclass(frozen=True, slots=True, eq=False)
class AtMost:
    """At most `limit[g]` pods of group g in one domain: required anti-affinity, a topology spread's ceiling.

    `group` is int64[P], `domain` int64[N], `limit` int64[G]. Anti-affinity on the hostname has a domain per node and
    the limit 1.
    """

    group: Ints
    domain: Ints
    limit: Ints


@dataclass(frozen=True, slots=True, eq=False)
class MaxSkew:
    """No domain has over `skew[g]` pods of group g more than the emptiest one: topology spread.

    `group` and `domain` are as in `AtMost`, `skew` is int64[G]. `there`, bool[G, D], are the domains of which one is
    the emptiest; where a group has none of them, the emptiest counts as empty. With `holds_first` a pod counts in both
    of its domains when it is moved, since room is held for its replacement before it leaves.
    Pods that are `free`, bool[P], count like the others of their group, and the rule closes no node to them; None: none
    is. `others`, int64[G, D], are pods that count and are none of the problem's; None: there are none.
    """

    group: Ints
    domain: Ints
    skew: Ints
    there: Bools
    holds_first: bool = False
    free: Bools | None = None
    others: Ints | None = None

    def count(self, assignment: Ints) -> Ints:
        """int64[G, D]: the pods of each group in each domain where those of the problem are at `assignment`."""
        counts = np.zeros(self.there.shape, np.int64) if self.others is None else self.others.copy()
        domain = np.append(self.domain, -1)[assignment]
        is_counted = (self.group >= 0) & (domain >= 0)
        np.add.at(counts, (self.group[is_counted], domain[is_counted]), 1)
        return counts

    def holds_for(self, pods: Ints) -> Bools:
        """bool[k]: whether the rule closes nodes to each of `pods`."""
        has_group: Bools = self.group[pods] >= 0
        return has_group if self.free is None else has_group & ~self.free[pods]


@dataclass(frozen=True, slots=True, eq=False)
class MinDomains:
    """The pods of group g are in at least `minimum[g]` different domains. Shapes as in `AtMost`."""

    group: Ints
    domain: Ints
    minimum: Ints


@dataclass(frozen=True, slots=True, eq=False)
class Together:
    """Where group `pairs[e, 0]` has a pod in a domain, group `pairs[e, 1]` has one too: required affinity.

    `pairs` is int64[E, 2]; a pair of a group with itself says nothing. Shapes of the rest as in `AtMost`.
    """

    group: Ints
    domain: Ints
    pairs: Ints


@dataclass(frozen=True, slots=True, eq=False)
class MoveLimit:
    """At most `limit[g]` pods of group g are moved: limits in total, a node, a namespace, a workload.

    `group` is int64[P], `limit` int64[G]. `names` are what whoever set the limits calls them, one a group.
    """

    group: Ints
    limit: Ints
    names: tuple[str, ...] = ()

    def count(self, pods: Ints) -> Ints:
        """int64[G]: how many of `pods` are of each group."""
        group = self.group[pods]
        return np.bincount(group[group >= 0], minlength=len(self.limit)).astype(np.int64)

    def binding(self, pods: Ints) -> list[tuple[int, int]]:
        """(group, how many of its pods may be moved) of the groups of which not all of `pods` may."""
        most = np.maximum(self.limit, 0)
        return [(int(group), int(most[group])) for group in np.flatnonzero(self.count(pods) > most)]


Rule = AtMost | MaxSkew | MinDomains | Together | MoveLimit
