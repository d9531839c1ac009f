"""What placed pods will have made of volumes and claims, before any volume controller has acted on it.

kube-scheduler keeps the same in its assume caches (`k8s.io/kubernetes/pkg/scheduler/util/assumecache`, 1.36): a volume
is taken for a claim, or a claim that is to be provisioned is pinned to a node. Charges on published storage capacity
are this program's own: the scheduler leaves that to the driver, so they only tell how sure an answer is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import msgspec

from descheduler.model.volume_sources import ClaimReference, PersistentVolumeClaim

__all__ = ["Assumed", "AssumedVolumes", "CapacityKey", "ClaimKey", "VolumeKey"]

ClaimKey: TypeAlias = tuple[str, str]
"""Namespace and name of a claim."""
CapacityKey: TypeAlias = tuple[str, str]
"""Namespace and name of a CSIStorageCapacity."""
VolumeKey: TypeAlias = tuple[str, str]
"""Storage class and name of a volume."""


class Assumed(msgspec.Struct, frozen=True):
    """What was assumed for one claim: a volume taken and for whom; or a node it is pinned to and bytes charged."""

    volume: tuple[VolumeKey, ClaimReference] | None = None
    pin: tuple[ClaimKey, int] | None = None
    charge: tuple[CapacityKey, int] | None = None


class AssumedVolumes:
    """Everything that is assumed. Pods that share a claim hold its volume together: it is free when the last leaves."""

    def __init__(self) -> None:
        self._taken: dict[str, dict[str, ClaimReference]] = {}
        self._pinned: dict[ClaimKey, int] = {}
        self._charged: dict[CapacityKey, int] = {}
        self._num_holders: dict[tuple[str, str, str], int] = {}

    def fingerprint(self) -> object:
        """Everything that is assumed."""
        taken = sorted((name, tuple(sorted(by_name.items()))) for name, by_name in self._taken.items())
        return taken, sorted(self._pinned.items()), sorted(self._charged.items()), sorted(self._num_holders.items())

    def taken(self, storage_class: str) -> Mapping[str, ClaimReference]:
        """Volumes of a class that are taken, by name, and the claims that they are taken for."""
        return self._taken.get(storage_class, {})

    def node_of(self, claim: PersistentVolumeClaim) -> int | None:
        """The node to which the claim is pinned since the snapshot was taken."""
        return self._pinned.get((claim.namespace, claim.name))

    def charged(self, capacity: CapacityKey) -> int:
        """Bytes of volumes that will be made out of a published capacity."""
        return self._charged.get(capacity, 0)

    def hold(self, assumed: Assumed) -> None:
        """Takes everything that `assumed` names."""
        if assumed.volume is not None:
            (storage_class, name), reference = assumed.volume
            self._taken.setdefault(storage_class, {})[name] = reference
            self._count("volume", (storage_class, name), 1)
        if assumed.pin is not None:
            claim, node = assumed.pin
            self._pinned[claim] = node
            self._count("claim", claim, 1)
        if assumed.charge is not None:
            self._charge(*assumed.charge)

    def release(self, assumed: Assumed) -> None:
        """The inverse of `hold`, whatever was held or released in between."""
        if assumed.volume is not None:
            storage_class, name = key = assumed.volume[0]
            if not self._count("volume", key, -1):
                taken = self._taken[storage_class]
                del taken[name]
                if not taken:
                    del self._taken[storage_class]
        if assumed.pin is not None and not self._count("claim", assumed.pin[0], -1):
            del self._pinned[assumed.pin[0]]
        if assumed.charge is not None:
            capacity, size_bytes = assumed.charge
            self._charge(capacity, -size_bytes)

    def _charge(self, capacity: CapacityKey, size_bytes: int) -> None:
        charged = self._charged.get(capacity, 0) + size_bytes
        if charged:
            self._charged[capacity] = charged
        else:
            self._charged.pop(capacity, None)

    def _count(self, what: str, key: tuple[str, str], change: int) -> int:
        """How many pods hold `key` after this change."""
        holding = (what, *key)
        number = self._num_holders.get(holding, 0) + change
        if number:
            self._num_holders[holding] = number
        else:
            del self._num_holders[holding]
        return number
