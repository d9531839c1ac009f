"""How pods with claims bear on each other."""

from __future__ import annotations

from descheduler.model.pod import Pod

__all__ = ["ClaimInteractions"]


class ClaimInteractions:
    """Volumes that one pod takes are gone for pods on other nodes too, and so is a claim that one pod alone may use."""

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

    def interact(self, first: Pod, second: Pod) -> bool:
        """Whether both use claims."""
        return _has_claims(first) and _has_claims(second)


def _has_claims(pod: Pod) -> bool:
    return bool(pod.claim_names or pod.ephemeral_volumes)
