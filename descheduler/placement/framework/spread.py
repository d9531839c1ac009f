"""Constraints on how pods spread over domains of nodes, as they bear on one placement class."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.shadow.tally.pod_tally import FoundPods, PodQuery
from descheduler.placement.shadow.topology import Domains

__all__ = ["CountedDomains", "SpreadConstraint"]


class CountedDomains:
    """The domains of a key as far as eligible nodes make them up: pods on other nodes do not count."""

    __slots__ = ("_ids", "domains", "num", "there")

    def __init__(self, domains: Domains, ids: NDArray[np.intp], eligible: BoolMask) -> None:
        self.domains = domains
        self._ids = np.where(eligible, ids, domains.num)
        self.there = np.unique(self._ids[self._ids < domains.num])
        """Those with an eligible node."""
        self.num = len(self.there)
        """How many there are."""

    def sums(self, found: FoundPods) -> NDArray[np.int64]:
        """Pods a domain. The last cell, which stands for no domain, means nothing."""
        ids = self._ids.take(found.nodes)
        return np.bincount(ids, weights=found.numbers, minlength=self.domains.num + 1).astype(np.int64)

    def least(self, sums: NDArray[np.int64]) -> int:
        """The smallest of `sums` over the domains that are there, of which there must be one."""
        return int(sums[self.there].min()) if self.num < self.domains.num else int(sums[:-1].min())


class SpreadConstraint(NamedTuple):
    """One constraint of a pod. `query` finds the pods that count; `is_self_matching` says whether this one would."""

    max_skew: int
    min_domains: int
    topology_key: str
    query: PodQuery
    is_self_matching: bool
    counted: CountedDomains
