"""How placed pods bear on each other by their quotas."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from descheduler.model.pod import Pod
from descheduler.placement.framework.interactions import GatheredPods, Meeting
from descheduler.placement.plugins.elastic_quota.quota_usage import QuotaUsage

__all__ = ["QuotaInteractions"]


class QuotaInteractions:
    """A placed pod takes of its own quota, and its request changes what every quota of its tree may use, on whatever
    node it is: mostly for the worse, but a parent that is asked for more also gets more, of which a child without
    requests of its own, or a scaled min, may have a part."""

    def __init__(self, usage: QuotaUsage) -> None:
        self._usage = usage

    def can_be_helped(self, pod: Pod) -> bool:
        """Whether the quota of `pod` may refuse it at all."""
        return self._usage.can_be_refused(pod)

    def is_local(self, pod: Pod) -> bool:
        """Whether nothing is ever said against `pod`."""
        return not self._usage.can_be_refused(pod)

    def is_felt_widely(self, pod: Pod) -> bool:
        """Never: the pods that feel it are not local."""
        del pod
        return False

    def closing(self, gathered: GatheredPods) -> Iterable[Meeting]:
        """None one node alone."""
        del gathered
        return ()

    def interact(self, first: Pod, second: Pod) -> bool:
        """Whether either may be refused, and both are charged in one tree."""
        accounts = self._usage.account_of(first), self._usage.account_of(second)
        if accounts[0] is None or accounts[1] is None or accounts[0].place.tree is not accounts[1].place.tree:
            return False
        return self._usage.can_be_refused(first) or self._usage.can_be_refused(second)

    def interacting(self, gathered: GatheredPods) -> Iterator[Meeting]:
        """All that are charged in one tree with those of them that may be refused."""
        may_be_refused = gathered.where(self._usage.can_be_refused)
        for places in gathered.filed(self._trees).values():
            refused = np.intersect1d(places, may_be_refused)
            yield from ((places, refused), (refused, places))

    def _trees(self, pod: Pod) -> Iterator[int]:
        """By identity the tree in which `pod` is charged, if any."""
        account = self._usage.account_of(pod)
        if account is not None:
            yield id(account.place.tree)
