"""The claims of one pod: those that it names, and those that are made for it; or why it is not tried."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import NamedTuple

from descheduler.cluster.snapshot import Snapshot
from descheduler.model.pod import COMING_CLAIM, Pod, PodResourceClaim
from descheduler.model.resource_claims import (
    CLAIM_KIND,
    CLAIM_TEMPLATE_KIND,
    ClaimSpec,
    DeviceClass,
    ResourceClaim,
    ResourceClaimTemplate,
)
from descheduler.placement.plugins.dynamic_resources.grants import ClaimGrants, GrantedClaim
from descheduler.placement.plugins.dynamic_resources.rules import ClaimFault


class NamedClaim(NamedTuple):
    """A claim that a pod names, and what it asks for; one that is yet to be made is made from `template`."""

    name: str
    spec: ClaimSpec
    granted: GrantedClaim
    template: str = ""

    @property
    def title(self) -> str:
        """As messages name it."""
        return f"claim of ResourceClaimTemplate {self.template}" if self.template else f"resource claim {self.name}"


class ClaimsOfPod:
    """Finds the claims of pods. A claim that is yet to be made is as its template is now."""

    def __init__(self, snapshot: Snapshot, grants: ClaimGrants) -> None:
        self._grants = grants
        templates: Sequence[ResourceClaimTemplate] = snapshot.objects.get(CLAIM_TEMPLATE_KIND, ())
        self._templates = {(each.namespace, each.name): each for each in templates}
        self._has_templates = CLAIM_TEMPLATE_KIND in snapshot.kinds
        self._left_over = {
            owner.uid: claim
            for claim in snapshot.objects.get(CLAIM_KIND, ())
            if claim.is_of_extended_resource and claim.spec.requests
            for owner in claim.owners
            if owner.controller
        }

    def of(self, pod: Pod) -> list[NamedClaim] | ClaimFault:
        """The claims in the order in which the pod names them, or what is wrong with the first bad one."""
        found: list[NamedClaim] = []
        for reference in pod.spec.resource_claims:
            name = reference.claim_name or pod.generated_claims.get(reference.name)
            if name is None:
                reason = f'pod "{pod.key}": ResourceClaim not created yet'
                return ClaimFault(reason, "a resource claim is not created yet", is_brief=True)
            if not name:
                continue
            claim = (
                self._coming(pod, reference, name)
                if name.endswith(COMING_CLAIM)
                else self._stored(pod, reference, name)
            )
            if isinstance(claim, ClaimFault):
                return claim
            found.append(claim)
        return found

    def unmade(self, pod: Pod) -> Iterator[str]:
        """Each claim of the pod that does not exist yet, and who makes it, a sentence."""
        for each in pod.spec.resource_claims:
            if each.claim_name or each.name in pod.generated_claims:
                continue
            template = f"ResourceClaimTemplate {each.template_name}"
            is_missing = self._has_templates and (pod.namespace, each.template_name) not in self._templates
            until = ", which does not exist either" if is_missing else ""
            yield f"claim {each.name} does not exist yet: kube-controller-manager creates it from {template}{until}"

    def left_over(self, pod: Pod) -> ResourceClaim | None:
        """A claim that the scheduler made for extended resources of the pod in an attempt that failed."""
        return self._left_over.get(pod.uid) if pod.uid else None

    def _coming(self, pod: Pod, reference: PodResourceClaim, name: str) -> NamedClaim | ClaimFault:
        template = self._templates.get((pod.namespace, reference.template_name))
        if template is None:
            reason = f"ResourceClaimTemplate {pod.namespace}/{reference.template_name} does not exist"
            return ClaimFault(reason, "a ResourceClaimTemplate does not exist")
        return NamedClaim(name, template.spec, GrantedClaim(), template.name)

    def _stored(self, pod: Pod, reference: PodResourceClaim, name: str) -> NamedClaim | ClaimFault:
        granted = self._grants.by_key.get((pod.namespace, name))
        if granted is None or granted.claim is None:
            return ClaimFault(
                f'could not find ResourceClaim "{pod.namespace}/{name}"', "a resource claim does not exist"
            )
        if granted.claim.is_terminating:
            return ClaimFault(f'resourceclaim "{name}" is being deleted', "a resource claim is being deleted")
        if not reference.claim_name and not granted.claim.is_controlled_by(pod.uid):
            reason = f"ResourceClaim {pod.namespace}/{name} was not created for Pod {pod.key} (Pod is not owner)"
            return ClaimFault(reason, "a resource claim belongs to another pod")
        return NamedClaim(name, granted.claim.spec, granted)


def missing_class(claims: Sequence[NamedClaim], classes: Mapping[str, DeviceClass]) -> ClaimFault | None:
    """The first class that a claim without devices names and that does not exist."""
    for claim in claims:
        if claim.granted.allocation is None:
            for request in claim.spec.requests:
                for asked in request.choices:
                    if asked.device_class not in classes:
                        name = f"{request.name}/{asked.name}" if asked.name else request.name
                        reason = f"request {name}: device class {asked.device_class} does not exist"
                        return ClaimFault(reason, f"DeviceClass {asked.device_class} does not exist")
    return None


class ClaimMark:
    """What tells pods with claims apart: which claims they are, but for those that are made from one template."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._owners = {
            owner.uid
            for claim in snapshot.objects.get(CLAIM_KIND, ())
            if claim.is_of_extended_resource
            for owner in claim.owners
        }

    def __call__(self, pod: Pod) -> Hashable:
        """The same for pods whose claims are alike."""
        own = pod.uid if pod.uid in self._owners else ""
        if not pod.spec.resource_claims:
            return own
        names = [pod.generated_claims.get(each.name) for each in pod.spec.resource_claims if not each.claim_name]
        is_coming = all(name is not None and name.endswith(COMING_CLAIM) for name in names)
        return own, is_coming or (pod.uid, *names)
