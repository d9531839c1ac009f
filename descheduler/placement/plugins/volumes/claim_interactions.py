"""How pods with claims bear on each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from descheduler.cluster.snapshot import Snapshot
from descheduler.model.pod import Pod
from descheduler.placement.framework.interactions import GatheredPods, Meeting, meeting_each_other

__all__ = ["ClaimInteractions", "NewVolumeInteractions"]


class ClaimInteractions:
    """A claim that one pod alone may use is gone for pods on other nodes too."""

    def can_be_helped(self, pod: Pod) -> bool:
        """Never: others only take volumes away."""
        del pod
        return False

    def is_local(self, pod: Pod) -> bool:
        """Whether it uses no claims."""
        return not _has_claims(pod)

    def is_felt_widely(self, pod: Pod) -> bool:
        """Not beyond those that use claims, which are not local themselves."""
        del pod
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
