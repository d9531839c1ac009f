"""Replacements: the pod that a victim's owner will make, which is not the victim."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from descheduler.cluster.snapshot import Snapshot
from descheduler.model.objects import LimitRange, ResourceQuota, Workload
from descheduler.model.pod import Owner, Pod, PodSpec
from descheduler.placement.replacements.labels import label_keys, replacement_labels, with_label_keys
from descheduler.placement.replacements.owners import Owners, Returns, returns_of, why_unmovable
from descheduler.placement.replacements.quota import exceeded_quota, full_quota
from descheduler.placement.replacements.spec import Admission, MergedSpec, merge_specs

__all__ = ["Replacement", "ReplacementMaker", "Returns", "Source"]

Source = Literal["template", "live", "none"]


class Replacement(msgspec.Struct, frozen=True, gc=False):
    """What the owner of `victim` will create once it is evicted.

    `pod` is None when nothing comes back. `alternative` is a second pod that may come instead, of the newer revision
    while a rollout is under way. `source` says what it was made from: the owner's template or a copy of the live pod.
    `returns` says when: as soon as the victim is terminating, or when it is gone. `unmovable` says why evicting the
    victim moves nothing, `unknown` why its landing cannot be decided, `barred` why `pod` will not be created at all;
    they are empty otherwise. A pod whose name is not known yet has the victim's with a plus sign, which no stored pod
    has.
    """

    victim: Pod
    pod: Pod | None
    source: Source
    returns: Returns = "at once"
    notes: tuple[str, ...] = ()
    unknown: str = ""
    unmovable: str = ""
    alternative: Pod | None = None
    barred: str = ""


class ReplacementMaker:
    """Makes the replacements of one snapshot's pods.

    Replicas whose replacements are alike get the same spec and, where no label tells them apart, the same labels, as
    one object each, so that they are one placement class.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._owners = Owners(snapshot)
        self._limit_ranges: dict[str, list[LimitRange]] = {}
        for limit_range in snapshot.limit_ranges:
            self._limit_ranges.setdefault(limit_range.namespace, []).append(limit_range)
        self._quotas: dict[str, list[ResourceQuota]] = {}
        for quota in snapshot.quotas:
            self._quotas.setdefault(quota.namespace, []).append(quota)
        # Keys are identities of parts of the snapshot; the parts are kept with the value, and so keep their identity.
        self._labels: dict[tuple[int, int], tuple[object, object, Mapping[str, str]]] = {}
        self._specs: dict[tuple[int, int], tuple[object, object, MergedSpec]] = {}
        self._expanded: dict[tuple[int, tuple[str | None, ...]], MergedSpec] = {}

    def replacement_of(self, victim: Pod, *, num_gone: int = 0) -> Replacement:
        """What comes back for `victim`, when `num_gone` pods of its controller were evicted before it."""
        reason = why_unmovable(victim)
        if reason:
            return Replacement(victim, None, "none", unmovable=reason)
        owner = victim.controller
        if victim.is_terminal:
            return _nothing(victim, "the pod has finished; no replacement pod is created")
        if owner is None:
            return _nothing(victim, "no controller recreates the pod")
        workload = self._owners.workload_of(victim)
        if workload is None:
            return self._from_live_pod(victim, owner, f"{owner.kind} {owner.name} is not in the snapshot")
        if self._owners.wants_no_more(victim, workload, num_gone):
            return _nothing(victim, f"{owner.kind} {owner.name} has enough replicas without this pod")
        return self._from_workload(victim, owner, workload)

    def _from_workload(self, victim: Pod, owner: Owner, workload: Workload) -> Replacement:
        template = workload.template
        source: Source = "live"
        if template is None:
            pod, notes = self._copy(victim, owner, f"no pod template for {owner.kind} {owner.name} in the snapshot")
        else:
            source = "template"
            pod, notes = self._pod(victim, owner, workload, template)
        notes = (*notes, *self._owners.notes(victim, workload))
        alternative, unknown = None, ""
        newer = self._owners.newer_revision(workload)
        if newer is not None and newer.template is not None:
            owner = Owner(newer.kind, newer.name, newer.uid, owner.api_version, controller=True)
            alternative, _ = self._pod(victim, owner, newer, newer.template)
        elif newer is not None:
            unknown = f"revision {newer.revision} is being rolled out, and its pod template is not in the snapshot"
        returns, barred = returns_of(workload), self._quota_bar(victim, pod)
        return Replacement(victim, pod, source, returns, notes, unknown, "", alternative, barred)

    def _from_live_pod(self, victim: Pod, owner: Owner, note: str) -> Replacement:
        pod, notes = self._copy(victim, owner, note)
        return Replacement(victim, pod, "live", notes=notes, barred=self._quota_bar(victim, pod))

    def _copy(self, victim: Pod, owner: Owner, note: str) -> tuple[Pod, tuple[str, ...]]:
        labels = self._labels_of(victim, None)
        merged = self._spec_of(victim, None, labels, None)
        pod = _new_pod(victim, owner, merged.spec, labels, victim, f"{victim.name}+", victim.claim_names)
        return pod, (f"{note}; the replacement is assumed to equal this pod", *self._quota_notes(victim, pod))

    def _pod(self, victim: Pod, owner: Owner, workload: Workload, template: Pod) -> tuple[Pod, tuple[str, ...]]:
        labels = self._labels_of(victim, template)
        merged = self._spec_of(victim, template, labels, workload)
        name, claims = f"{victim.name}+", template.claim_names
        if workload.kind == "StatefulSet":
            name = victim.name
            claims = (*claims, *(f"{claim.name}-{name}" for claim in workload.claim_templates))
        pod = _new_pod(victim, owner, merged.spec, labels, template, name, claims)
        return pod, (*merged.notes, *self._quota_notes(victim, pod))

    def _labels_of(self, victim: Pod, template: Pod | None) -> Mapping[str, str]:
        key = id(template), id(victim.labels)
        known = self._labels.get(key)
        if known is None:
            known = self._labels[key] = (template, victim.labels, replacement_labels(victim, template))
        return known[2]

    def _spec_of(
        self, victim: Pod, template: Pod | None, labels: Mapping[str, str], workload: Workload | None
    ) -> MergedSpec:
        key = id(template), id(victim.spec)
        known = self._specs.get(key)
        if known is None:
            if template is None or workload is None:
                merged = MergedSpec(victim.spec, ())
            else:
                merged = merge_specs(template.spec, victim.spec, self._admission(workload))
            known = self._specs[key] = (template, victim.spec, merged)
        merged = known[2]
        keys = label_keys(merged.spec.affinity)
        if not keys:
            return merged
        values = id(merged.spec), tuple(labels.get(name) for name in keys)
        expanded = self._expanded.get(values)
        if expanded is None:
            affinity = with_label_keys(merged.spec.affinity, labels)
            spec = msgspec.structs.replace(merged.spec, affinity=affinity)
            expanded = self._expanded[values] = MergedSpec(spec, merged.notes)
        return expanded

    def _admission(self, workload: Workload) -> Admission:
        priority = self._snapshot.priority_classes.get(workload.priority_class)
        return Admission(
            self._limit_ranges.get(workload.namespace, ()),
            None if priority is None else priority.value,
            self._snapshot.runtime_classes.get(workload.runtime_class),
        )

    def _quota_notes(self, victim: Pod, pod: Pod) -> tuple[str, ...]:
        quotas = self._quotas.get(pod.namespace)
        quota = None if quotas is None or exceeded_quota(pod, victim, quotas) else full_quota(pod, quotas)
        return (
            ()
            if quota is None
            else (f"ResourceQuota {quota} has no room for the replacement pod until this pod is gone",)
        )

    def _quota_bar(self, victim: Pod, pod: Pod) -> str:
        quotas = self._quotas.get(pod.namespace)
        quota = None if quotas is None else exceeded_quota(pod, victim, quotas)
        return (
            "" if quota is None else f"ResourceQuota {quota} is exceeded by the replacement pod, even without this pod"
        )


def _nothing(victim: Pod, note: str) -> Replacement:
    return Replacement(victim, None, "none", notes=(note,))


def _new_pod(
    victim: Pod,
    owner: Owner,
    spec: PodSpec,
    labels: Mapping[str, str],
    template: Pod,
    name: str,
    claim_names: tuple[str, ...],
) -> Pod:
    """A pod to be created, hence without uid and state."""
    return Pod(
        name=name,
        namespace=victim.namespace,
        uid="",
        spec=spec,
        node_name="",
        phase="Pending",
        created_at=None,
        started_at=None,
        deleted_at=None,
        labels=labels,
        annotations=template.annotations,
        owners=victim.owners if owner in victim.owners else (owner,),
        claim_names=claim_names,
        status_reason="",
        reported_qos_class="",
        container_statuses=(),
        init_container_statuses=(),
        ephemeral_container_statuses=(),
        is_ready=False,
        conditions=(),
        ephemeral_volumes=template.ephemeral_volumes,
    )
