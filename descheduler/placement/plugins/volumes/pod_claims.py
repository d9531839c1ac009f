"""The claims behind a pod's volumes, and the words for those that are missing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from functools import cached_property
from typing import Literal, NamedTuple

from descheduler.cluster.snapshot import Snapshot
from descheduler.model.pod import EphemeralVolume, Pod, PodSpec
from descheduler.model.volume_sources import PersistentVolumeClaim
from descheduler.placement.framework.interactions import GatheredPods, Meeting, meeting_each_other
from descheduler.placement.framework.obstacle import Code, Obstacle, Said
from descheduler.placement.shadow.follower import CountingFollower
from descheduler.placement.shadow.shadow_cluster import ShadowCluster

_Kind = Literal["PersistentVolumeClaim", "PersistentVolume", "StorageClass.storage.k8s.io"]
CLAIM_KINDS = frozenset({"PersistentVolumeClaim", "PersistentVolume", "StorageClass.storage.k8s.io"})
"""What tells which volumes a pod has or will have, by the keys of the table of kinds."""
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


class ClaimOwners(CountingFollower):
    """A follower that knows which pods with ephemeral volumes have left since the snapshot was taken."""

    def __init__(self, cluster: ShadowCluster) -> None:
        self._cluster = cluster
        self._placed: dict[str, int] = {}

    def concerns(self, spec: PodSpec) -> bool:
        """Pods with ephemeral volumes alone."""
        return False

    def count(self, pod: Pod, node: int, sign: int, *, is_terminating: bool) -> None:
        """The pod keeps its claims, also while it is being deleted."""
        if not pod.ephemeral_volumes:
            return
        number = self._placed.get(pod.uid, 0) + sign
        if number:
            self._placed[pod.uid] = number
        else:
            del self._placed[pod.uid]

    def fingerprint(self) -> object:
        """The number of placed pods with ephemeral volumes by uid."""
        return sorted(self._placed.items())

    def has_left(self, claim: PersistentVolumeClaim) -> bool:
        """Whether the pod that owned the claim is gone, so that the garbage collector removes the claim."""
        return claim.owner_uid not in self._placed and claim.owner_uid in self._at_first

    @cached_property
    def _at_first(self) -> frozenset[str]:
        return frozenset(pod.uid for pod, _ in self._cluster.placed_pods if pod.ephemeral_volumes)


class PodClaim(NamedTuple):
    """The claim of one volume of a pod; `claim` is None while there is none of that name.

    A claim `is_new` that will be made with the pod. One that `is_foreign` has the name of a claim for an ephemeral
    volume, but was made for another pod.
    """

    name: str
    claim: PersistentVolumeClaim | None
    is_ephemeral: bool = False
    is_new: bool = False
    is_foreign: bool = False


class PodClaims:
    """Looks up claims in a shadow cluster."""

    def __init__(self, cluster: ShadowCluster) -> None:
        self._snapshot = cluster.snapshot
        self._owners = cluster.follow(ClaimOwners)

    def of(self, pod: Pod) -> tuple[PodClaim, ...]:
        """The claims of `pod`, in the order of its volumes.

        A pod without uid does not exist yet, so the claims of its ephemeral volumes are to be made too, unless a
        claim of that name is there: it belongs to a predecessor and goes with it.
        """
        claims = self._snapshot.claims
        named = tuple([PodClaim(name, claims.get((pod.namespace, name))) for name in pod.claim_names])
        if not pod.ephemeral_volumes:
            return named
        return _in_order(pod, named, (self._of_volume(pod, volume) for volume in pod.ephemeral_volumes))

    def of_placed(self, pod: Pod) -> tuple[PodClaim, ...]:
        """The claims of a pod that is on a node, which has what it needs: the same whatever has happened since."""
        claims = self._snapshot.claims
        named = tuple([PodClaim(name, claims.get((pod.namespace, name))) for name in pod.claim_names])
        if not pod.ephemeral_volumes:
            return named
        found = self._existing if pod.uid else self._new
        return _in_order(pod, named, (found(pod, volume) for volume in pod.ephemeral_volumes))

    def _of_volume(self, pod: Pod, volume: EphemeralVolume) -> PodClaim:
        existing = self._existing(pod, volume)
        if existing.claim is not None and self._owners.has_left(existing.claim):
            existing = PodClaim(existing.name, None, is_ephemeral=True)
        return self._new(pod, volume) if existing.claim is None and not pod.uid else existing

    def _existing(self, pod: Pod, volume: EphemeralVolume) -> PodClaim:
        name = f"{pod.name}-{volume.name}"
        claim = self._snapshot.claims.get((pod.namespace, name))
        is_foreign = claim is not None and (not pod.uid or claim.owner_uid != pod.uid)
        return PodClaim(name, claim, is_ephemeral=True, is_foreign=is_foreign)

    def _new(self, pod: Pod, volume: EphemeralVolume) -> PodClaim:
        name = f"{pod.name}-{volume.name}"
        return PodClaim(name, self._new_claim(pod.namespace, name, volume), is_ephemeral=True, is_new=True)

    def _new_claim(self, namespace: str, name: str, volume: EphemeralVolume) -> PersistentVolumeClaim:
        template = volume.claim
        storage_class = template.storage_class
        return PersistentVolumeClaim(
            namespace=namespace,
            name=name,
            storage_class=_default_class(self._snapshot) if storage_class is None else storage_class,
            volume_name=template.volume_name,
            access_modes=template.access_modes,
            request_bytes=template.request_bytes,
            volume_mode=template.volume_mode,
            attributes_class=template.attributes_class,
            selector=template.selector,
        )


def _in_order(pod: Pod, named: tuple[PodClaim, ...], ephemeral: Iterable[PodClaim]) -> tuple[PodClaim, ...]:
    """The claims of `pod` as its volumes have them: the first that is at fault is the one that is told."""
    claims = list(named)
    for place, (volume, claim) in enumerate(zip(pod.ephemeral_volumes, ephemeral, strict=True)):
        claims.insert(volume.num_claims_before + place, claim)
    return tuple(claims)


def claims_of(pod: Pod, cluster: ShadowCluster) -> Iterator[PersistentVolumeClaim]:
    """The claims that there are for the volumes of `pod` and that are not somebody else's."""
    for entry in PodClaims(cluster).of(pod):
        if entry.claim is not None and not entry.is_foreign:
            yield entry.claim


def is_read(snapshot: Snapshot, kind: _Kind) -> bool:
    """Whether the snapshot can tell that an object of this kind does not exist. One made by hand always can."""
    return not snapshot.kinds or kind in snapshot.kinds


def not_found(snapshot: Snapshot, plugin: str, kind: _Kind, name: str) -> Obstacle:
    """What `plugin` says of an object that is not in the snapshot: the scheduler's words, or that it cannot know."""
    if is_read(snapshot, kind):
        return Obstacle(plugin, Code.UNRESOLVABLE, (f'{kind.lower()} "{name}" not found',))
    unread = f"the snapshot holds no {kind.partition('.')[0]} objects"
    return Obstacle.of(plugin, Code.UNDECIDED, Said(f'{unread}, so "{name}" cannot be looked up', unread))


def _default_class(snapshot: Snapshot) -> str:
    """The class that the API server gives a claim that names none: the newest default one, empty without any."""
    defaults = sorted(name for name, known in snapshot.storage_classes.items() if known.is_default)
    return max(defaults, key=lambda name: snapshot.storage_classes[name].created_at or _LONG_AGO, default="")


class ClaimInteractions:
    """A claim that one pod alone may use is gone for pods on other nodes too."""

    def can_be_helped(self, pod: Pod) -> bool:
        """Never: others only take volumes away."""
        return False

    def is_local(self, pod: Pod) -> bool:
        """Whether it uses no claims."""
        return not _has_claims(pod)

    def is_felt_widely(self, pod: Pod) -> bool:
        """Not beyond those that use claims, which are not local themselves."""
        return False

    def closing(self, gathered: GatheredPods) -> Iterable[Meeting]:
        """All that state disks, of which a node may have one user only."""
        return meeting_each_other(gathered.where(lambda pod: bool(pod.spec.inline_disks)))

    def interact(self, first: Pod, second: Pod) -> bool:
        """Whether both name the same claim."""
        return first.namespace == second.namespace and not set(first.claim_names).isdisjoint(second.claim_names)

    def interacting(self, gathered: GatheredPods) -> Iterator[Meeting]:
        """All that name the same claim."""
        for places in gathered.filed(_claims).values():
            yield places, places


class NewVolumeInteractions(ClaimInteractions):
    """The same of a plugin that gives volumes to claims: what one claim gets is gone for others.

    A claim of `snapshot` that has its volume takes none from them.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self._claims = snapshot.claims

    def interact(self, first: Pod, second: Pod) -> bool:
        """Whether both need a new volume, or name the same claim."""
        return (self._needs_volume(first) and self._needs_volume(second)) or super().interact(first, second)

    def interacting(self, gathered: GatheredPods) -> Iterator[Meeting]:
        """All that need a new volume, or name the same claim."""
        yield from meeting_each_other(gathered.where(self._needs_volume))
        yield from super().interacting(gathered)

    def _needs_volume(self, pod: Pod) -> bool:
        claims = (self._claims.get((pod.namespace, name)) for name in pod.claim_names)
        return bool(pod.ephemeral_volumes) or any(claim is None or not claim.is_bound for claim in claims)


def _claims(pod: Pod) -> list[tuple[str, str]]:
    return [(pod.namespace, name) for name in pod.claim_names]


def _has_claims(pod: Pod) -> bool:
    return bool(pod.claim_names or pod.ephemeral_volumes)
