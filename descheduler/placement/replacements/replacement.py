"""Replacements: the pod that a victim's owner will make, which is not the victim."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Literal

import msgspec

from descheduler.cluster.snapshot import Snapshot
from descheduler.model.annotations import JOB_INDEX_ANNOTATION, JOB_INDEX_FAILURES_ANNOTATION
from descheduler.model.groups.workloads import PodRevision, Workload
from descheduler.model.pod import Owner, Pod, PodSpec, coming_claims
from descheduler.model.selection.taints import Toleration
from descheduler.placement.replacements.admission import Admission, FullQuota
from descheduler.placement.replacements.answer import Ending, OwnerAnswer, Returns
from descheduler.placement.replacements.controllers.daemon_set import DAEMON_TOLERATIONS
from descheduler.placement.replacements.controllers.job import index_failures
from descheduler.placement.replacements.other_size import of_other_size
from descheduler.placement.replacements.owners import Owners, why_unmovable
from descheduler.placement.replacements.spec import (
    Defaults,
    MergedSpec,
    for_node,
    label_keys,
    merge_specs,
    replacement_labels,
    with_label_keys,
)

Source = Literal["template", "live", "none"]

_REVISION_HASH = "controller-revision-hash"
_ALL_TAINTS = (Toleration(operator="Exists"),)
"""The scheduler, which looks at taints, never sees a pod that is created with a node."""


class Replacement(msgspec.Struct, frozen=True, gc=False):
    """What the owner of `victim` will create once it is evicted, by its `answer`.

    `pod` is None when nothing comes back. `alternative` is the same pod with the other size that admission may give it.
    `source` says what it was made from: the owner's template or a copy of the live pod. `unmovable` says why evicting
    the victim moves nothing, `barred` why `pod` will not be created at all; they are empty otherwise. A pod whose name
    is not known yet has the victim's with a plus sign, which no stored pod has.
    """

    victim: Pod
    answer: OwnerAnswer
    pod: Pod | None
    source: Source
    notes: tuple[str, ...] = ()
    unmovable: str = ""
    alternative: Pod | None = None
    barred: str = ""


class ReplacementMaker:
    """Makes the replacements of one snapshot's pods; `now` is the time of it, None where unknown.

    `renew` gives a copy of a bound pod without what schedulers gave to that one.

    Replicas whose replacements are alike get the same spec and, where no label tells them apart, the same labels, as
    one object each, so that they are one placement class.
    """

    def __init__(
        self, snapshot: Snapshot, now: datetime | None = None, renew: Callable[[Pod], Pod] = lambda pod: pod
    ) -> None:
        self._snapshot, self._renew = snapshot, renew
        self.owners = Owners(snapshot, now)
        self._admission = Admission(snapshot)
        # Keys are identities of parts of the snapshot; the parts are kept with the value, and so keep their identity.
        self._labels: dict[tuple[int, int], tuple[object, object, Mapping[str, str]]] = {}
        self._specs: dict[tuple[int, int], tuple[object, object, MergedSpec]] = {}
        self._expanded: dict[tuple[int, tuple[str | None, ...]], MergedSpec] = {}

    def replacement_of(
        self,
        victim: Pod,
        *,
        gone: Sequence[Pod] = (),
        ending: Ending | None = None,
        mates: Sequence[Pod] = (),
    ) -> Replacement:
        """What comes back for `victim`, when the pods of its controller that are `gone` were evicted before it.

        `mates` leave with it as one bundle, all or none.
        Nothing does for a pod that has finished: what its owner creates for that comes whether it is evicted or not.
        """
        answer = self.owners.answer(victim, gone, ending, mates)
        unmovable = why_unmovable(victim)
        if unmovable or victim.is_terminal or not answer.is_created:
            notes = tuple(filter(None, (answer.loss or answer.cause,)))
            return Replacement(victim, answer, None, "none", notes, unmovable)
        workload, owner = self.owners.workload_of(victim), victim.controller
        if owner is None:
            return Replacement(victim, answer, None, "none", answer.notes)
        if workload is None:
            note = f"{owner.kind} {owner.name} was not read; the replacement is assumed to equal this pod"
            made = self._copied(victim, victim, owner, answer, note)
        else:
            made = self._made(victim, owner, workload, answer)
        return self._admitted(made, workload, len(gone))

    def _made(self, victim: Pod, owner: Owner, workload: Workload, answer: OwnerAnswer) -> Replacement:
        if answer.like is not None:
            revision = answer.like.labels.get(_REVISION_HASH, "")
            note = f"no pod template of revision {revision} in the snapshot; made from pod {answer.like.name} of it"
            return self._copied(victim, answer.like, owner, answer, note)
        source = workload if answer.revision is None else answer.revision
        if source.template is None:
            note = f"no pod template for {owner.kind} {owner.name} in the snapshot"
            note += "; the replacement is assumed to equal this pod"
            return self._copied(victim, victim, owner, answer, note)
        return self._from_template(victim, workload, source, source.template, answer)

    def _from_template(
        self,
        victim: Pod,
        workload: Workload,
        source: Workload | PodRevision,
        template: Pod,
        answer: OwnerAnswer,
    ) -> Replacement:
        labels = self._labels_of(victim, template, _revision_name(workload, answer))
        merged = self._spec_of(victim, template, labels, source)
        name, claims = f"{victim.name}+", template.claim_names
        if workload.kind == "StatefulSet":
            name = victim.name
            claims = (*claims, *(f"{claim.name}-{name}" for claim in workload.claim_templates))
        spec = _placed(merged.spec, answer.node, template.node_name)
        pod = _new_pod(victim, spec, labels, template, name, claims, answer)
        notes = (*merged.notes, *answer.notes)
        if template.node_name:
            notes = (*notes, f"the owner's pod template names node {template.node_name} (nodeName)")
        other = of_other_size(victim, pod, workload, self._snapshot.revisions)
        return Replacement(victim, answer, pod, "template", notes, alternative=other)

    def _copied(self, victim: Pod, like: Pod, owner: Owner, answer: OwnerAnswer, note: str) -> Replacement:
        """A pod such as `like`, with what identifies `victim`."""
        labels = self._labels_of(victim, None if like is victim else like)
        spec = self._spec_of(like, None, labels, None).spec
        spec = for_node(spec, answer.node, DAEMON_TOLERATIONS) if answer.node else spec
        name = victim.name if answer.has_same_name or owner.kind == "StatefulSet" else f"{victim.name}+"
        pod = _new_pod(victim, spec, labels, like, name, victim.claim_names, answer)
        return Replacement(victim, answer, self._renew(pod), "live", (note, *answer.notes))

    def _admitted(self, made: Replacement, workload: Workload | None, num_before: int) -> Replacement:
        """`made`, or that it is not admitted, or only once its predecessor is gone."""
        assert made.pod is not None  # noqa: S101 - it is made of something
        source = workload if made.answer.revision is None else made.answer.revision
        priority_class = "" if source is None else source.priority_class
        barred = self._admission.bar(made.pod, made.victim, priority_class)
        if barred:
            answer = msgspec.structs.replace(made.answer, returns=Returns.NOT_CREATED, cause=barred, is_early=False)
            return msgspec.structs.replace(made, barred=barred, answer=answer)
        full = self._admission.full_quota(made.pod, priority_class, num_before)
        return made if full is None else _delayed(made, full)

    def _labels_of(self, victim: Pod, template: Pod | None, revision: str = "") -> Mapping[str, str]:
        key = id(template), id(victim.labels)
        known = self._labels.get(key)
        if known is None:
            labels = replacement_labels(victim, template)
            if revision:
                labels = {**labels, _REVISION_HASH: revision}
            known = self._labels[key] = (template, victim.labels, labels)
        return known[2]

    def _spec_of(
        self, victim: Pod, template: Pod | None, labels: Mapping[str, str], source: Workload | PodRevision | None
    ) -> MergedSpec:
        key = id(template), id(victim.spec)
        known = self._specs.get(key)
        if known is None:
            if template is None or source is None:
                merged = MergedSpec(victim.spec, ())
            else:
                merged = merge_specs(template.spec, victim.spec, self._defaults(source))
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

    def _defaults(self, source: Workload | PodRevision) -> Defaults:
        priority = self._snapshot.priority_classes.get(source.priority_class)
        return Defaults(
            self._admission.limit_ranges_of(source.namespace),
            None if priority is None else priority.value,
            self._snapshot.runtime_classes.get(source.runtime_class),
        )


def _revision_name(workload: Workload, answer: OwnerAnswer) -> str:
    """The name that a StatefulSet puts on the pods of a revision, "" for other owners."""
    if answer.revision is not None:
        return answer.revision.name
    facts = workload.stateful_set
    return "" if facts is None or workload.is_unseen else facts.update_revision


def _placed(spec: PodSpec, own_node: str, named_node: str) -> PodSpec:
    """`spec` for the node that its owner, or its template, names."""
    if own_node:
        return for_node(spec, own_node, DAEMON_TOLERATIONS)
    return for_node(spec, named_node, _ALL_TAINTS) if named_node else spec


def _delayed(made: Replacement, full: FullQuota) -> Replacement:
    """`made`, where a quota has no room for it beside its predecessor."""
    note = f"ResourceQuota {full.name} has no room for the replacement pod until this pod is gone"
    returns = made.answer.returns
    if full.counts_objects:
        returns = Returns.LATER
    elif returns is Returns.AT_ONCE:
        returns = Returns.WHEN_GONE
    answer = msgspec.structs.replace(made.answer, returns=returns, is_early=False)
    return msgspec.structs.replace(made, answer=answer, notes=(*made.notes, note))


def _new_pod(
    victim: Pod,
    spec: PodSpec,
    labels: Mapping[str, str],
    template: Pod,
    name: str,
    claim_names: tuple[str, ...],
    answer: OwnerAnswer,
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
        annotations=_annotations(victim, template, answer),
        owners=victim.owners,
        claim_names=claim_names,
        status_reason="",
        reported_qos_class="",
        container_statuses=(),
        init_container_statuses=(),
        ephemeral_container_statuses=(),
        is_ready=False,
        conditions=(),
        ephemeral_volumes=template.ephemeral_volumes,
        generated_claims=coming_claims(name, spec),
    )


def _annotations(victim: Pod, template: Pod, answer: OwnerAnswer) -> Mapping[str, str]:
    """The annotations of the template, and the one by which a Job counts the failures of an index."""
    if JOB_INDEX_FAILURES_ANNOTATION not in victim.annotations:
        return template.annotations
    kept = {key: victim.annotations[key] for key in (JOB_INDEX_ANNOTATION,) if key in victim.annotations}
    failures = str(index_failures(victim) + answer.is_counted)
    return {**template.annotations, **kept, JOB_INDEX_FAILURES_ANNOTATION: failures}
