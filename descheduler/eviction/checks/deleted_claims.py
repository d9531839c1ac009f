"""Pods with devices of a resource claim that is being deleted: who deletes the claim decides what becomes of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from descheduler.eviction.placement_verification.placement_verification import VerifiedCheck
from descheduler.model.pod import Pod
from descheduler.model.resource_claims import CLAIM_KIND, ResourceClaim
from descheduler.model.verdict import Reason, Verdict, refuse


class DeletedClaimCheck(VerifiedCheck):
    """Refuses pods that have such a claim reserved, or for which it was made."""

    def refusal(self, pod: Pod) -> Verdict | None:
        """What the rule has against the eviction of `pod`."""
        claim = self._deleted.get(pod.uid)
        if claim is None:
            return None
        return refuse(Reason.CLAIM_TERMINATING, f"resource claim {claim.name} of the pod is being deleted", claim.name)

    @cached_property
    def _deleted(self) -> Mapping[str, ResourceClaim]:
        """Pod → a claim of it that is being deleted. Claims of extended resources are among them."""
        claims: Sequence[ResourceClaim] = self._snapshot.objects.get(CLAIM_KIND, ())
        found: dict[str, ResourceClaim] = {}
        for claim in claims:
            if claim.is_terminating:
                users = {each.uid for each in claim.consumers} | {each.uid for each in claim.owners if each.controller}
                found.update(dict.fromkeys(users, claim))
        return found
