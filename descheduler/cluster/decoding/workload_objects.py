"""Controllers of pods from the bytes of the API to model values, with or without the pods that they make."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from descheduler.cluster.decoding.affinity_blocks import decode_nullable_selector
from descheduler.cluster.decoding.blocks import decode_labels, decode_owners, decode_text
from descheduler.cluster.decoding.decode import Decoding, PodDecoder
from descheduler.cluster.decoding.job_facts import JobSpecWire, JobStatusWire, decode_job_facts, replacement_policy
from descheduler.cluster.decoding.pods.defaults import TemplateSpecWire, set_pod_defaults
from descheduler.cluster.decoding.volume_blocks import ClaimTemplateWire, claim_template
from descheduler.cluster.decoding.wire import ABSENT, Int32, Int64, MetadataWire, ObjectReader, PodWire, Wire
from descheduler.model.annotations import REVISION_ANNOTATION
from descheduler.model.groups.workloads import PodRevision, StatefulSetFacts, Workload
from descheduler.model.pod import Pod
from descheduler.model.selection.labels import NOTHING, LabelSelector, Requirement
from descheduler.model.text.numbers import whole_number


class _WorkloadSpecWire(Wire):
    replicas: Int32 | None = None
    parallelism: Int32 | None = None
    selector: msgspec.Raw = ABSENT


class _StatusWire(Wire):
    observed_generation: Int64 | None = None


class _JobWire(Wire):
    spec: JobSpecWire | None = None
    status: JobStatusWire | None = None


class _RollingUpdateWire(Wire):
    partition: Int32 | None = None
    max_surge: Int32 | str | None = None


class _UpdateStrategyWire(Wire):
    type: str | None = None
    rolling_update: _RollingUpdateWire | None = None


class _OrdinalsWire(Wire):
    start: Int32 | None = None


class _SetSpecWire(Wire):
    min_ready_seconds: Int32 | None = None
    pod_management_policy: str | None = None
    volume_claim_templates: list[ClaimTemplateWire] | None = None
    ordinals: _OrdinalsWire | None = None
    update_strategy: _UpdateStrategyWire | None = None


class _SetStatusWire(Wire):
    current_revision: str | None = None
    update_revision: str | None = None


class _SetWire(Wire):
    """A StatefulSet or a DaemonSet, as far as other controllers have no such fields."""

    spec: _SetSpecWire | None = None
    status: _SetStatusWire | None = None


class _TemplateMetadataWire(Wire):
    labels: msgspec.Raw = ABSENT
    annotations: dict[str, msgspec.Raw] | None = None


class _TemplateWire(Wire):
    metadata: _TemplateMetadataWire | None = None
    spec: TemplateSpecWire | None = None


class _TemplatedSpecWire(Wire):
    template: _TemplateWire | None = None


class _TemplatedWire(Wire):
    spec: _TemplatedSpecWire | None = None


class _RevisionDataWire(Wire):
    data: _TemplatedWire | None = None


class _RevisionWire(Wire):
    metadata: MetadataWire | None = None
    revision: Int64 | None = None


_read_workload = ObjectReader(_WorkloadSpecWire, _StatusWire)
_read_job = msgspec.json.Decoder(_JobWire).decode
_read_set = msgspec.json.Decoder(_SetWire).decode
_read_revision = msgspec.json.Decoder(_RevisionWire).decode
_read_revision_data = msgspec.json.Decoder(_RevisionDataWire).decode
_read_templated = msgspec.json.Decoder(_TemplatedWire).decode


def workload_decoder(kind: str) -> Callable[[Decoding], Callable[[bytes], Workload]]:
    """The decoder of workloads of this kind."""
    decode_bare = _bare_workload(kind)

    def of(decoding: Decoding) -> Callable[[bytes], Workload]:
        if not decoding.keep_templates:
            return decode_bare
        return lambda block: _with_template(decode_bare(block), block, decoding.pods)

    return of


def _bare_workload(kind: str) -> Callable[[bytes], Workload]:
    """What makes a Workload of this kind from its bytes; its template is left out."""
    with_facts = _FACTS.get(kind)

    def decode(block: bytes) -> Workload:
        metadata, spec, status = _read_workload(block)
        replicas = spec.parallelism if kind == "Job" else spec.replicas
        workload = Workload(
            kind=kind,
            namespace=metadata.namespace or "",
            name=metadata.name or "",
            uid=metadata.uid or "",
            replicas=1 if replicas is None else replicas,
            owners=decode_owners(bytes(metadata.owner_references)),
            selector=_selector(kind, bytes(spec.selector)),
            revision=_revision(metadata),
            is_deleting=metadata.deletion_timestamp is not None,
            is_unseen=_is_unseen(metadata, status),
        )
        return workload if with_facts is None else with_facts(workload, block)

    return decode


def _is_unseen(metadata: MetadataWire, status: _StatusWire) -> bool:
    """Whether the status tells of an earlier spec. One without either number tells nothing."""
    observed, current = status.observed_generation, metadata.generation
    return observed is not None and current is not None and observed < current


def _job(workload: Workload, block: bytes) -> Workload:
    wire = _read_job(block)
    spec = wire.spec or JobSpecWire()
    return msgspec.structs.replace(
        workload,
        pod_replacement_policy=replacement_policy(spec),
        job=decode_job_facts(spec, wire.status or JobStatusWire()),
    )


def _stateful_set(workload: Workload, block: bytes) -> Workload:
    wire = _read_set(block)
    spec, status = wire.spec or _SetSpecWire(), wire.status or _SetStatusWire()
    strategy = spec.update_strategy or _UpdateStrategyWire()
    rolling = strategy.rolling_update or _RollingUpdateWire()
    facts = StatefulSetFacts(
        first_ordinal=(spec.ordinals or _OrdinalsWire()).start or 0,
        partition=None if strategy.type == "OnDelete" else rolling.partition or 0,
        current_revision=status.current_revision or "",
        update_revision=status.update_revision or "",
    )
    return msgspec.structs.replace(
        workload,
        pod_management_policy=spec.pod_management_policy or "",
        claim_templates=tuple(map(claim_template, spec.volume_claim_templates or ())),
        min_ready_seconds=spec.min_ready_seconds or 0,
        stateful_set=facts,
    )


def _daemon_set(workload: Workload, block: bytes) -> Workload:
    strategy = (_read_set(block).spec or _SetSpecWire()).update_strategy or _UpdateStrategyWire()
    surge = (strategy.rolling_update or _RollingUpdateWire()).max_surge
    surges = strategy.type != "OnDelete" and str(surge or 0).removesuffix("%") != "0"
    return msgspec.structs.replace(workload, replicas=0, surges=surges)


_FACTS: dict[str, Callable[[Workload, bytes], Workload]] = {
    "Job": _job,
    "StatefulSet": _stateful_set,
    "DaemonSet": _daemon_set,
}
"""Kind → what adds the fields that no other kind has."""


def _selector(kind: str, block: bytes) -> LabelSelector:
    if kind != "ReplicationController":
        return decode_nullable_selector(block, NOTHING)
    labels = decode_labels(block)
    if not labels:
        return NOTHING
    return LabelSelector(tuple(Requirement(key, "In", frozenset((labels[key],))) for key in sorted(labels)))


def _revision(metadata: MetadataWire) -> int:
    text = decode_text((metadata.annotations or {}).get(REVISION_ANNOTATION, ABSENT))
    return whole_number(text) or 0


def _with_template(workload: Workload, block: bytes, pods: PodDecoder) -> Workload:
    """`workload`, decoded from `block`, with the pod that it makes next. Raises ValueError on a malformed template."""
    made = _template(_read_templated(block), workload.namespace, pods)
    if made is None:
        return workload
    template, priority_class, runtime_class = made
    return msgspec.structs.replace(
        workload, template=template, priority_class=priority_class, runtime_class=runtime_class
    )


def _template(wire: _TemplatedWire, namespace: str, pods: PodDecoder) -> tuple[Pod, str, str] | None:
    """The pod of a template, with the names of its priority class and of its runtime class."""
    template = wire.spec.template if wire.spec else None
    if template is None:
        return None
    metadata, spec = template.metadata or _TemplateMetadataWire(), template.spec or TemplateSpecWire()
    pod = PodWire(
        metadata=MetadataWire(namespace=namespace, labels=metadata.labels, annotations=metadata.annotations),
        spec=set_pod_defaults(spec),
    )
    return pods.decode(pod), spec.priority_class_name or "", spec.runtime_class_name or ""


def revision_decoder(decoding: Decoding) -> Callable[[bytes], PodRevision]:
    """The decoder of ControllerRevisions."""

    def decode(block: bytes) -> PodRevision:
        wire = _read_revision(block)
        metadata = wire.metadata or MetadataWire()
        owners = decode_owners(bytes(metadata.owner_references))
        revision = PodRevision(
            namespace=metadata.namespace or "",
            name=metadata.name or "",
            number=wire.revision or 0,
            owner_uid=next((owner.uid for owner in owners if owner.controller), ""),
        )
        data = _read_revision_data(block).data if decoding.keep_templates else None
        made = None if data is None else _template(data, revision.namespace, decoding.pods)
        if made is None:
            return revision
        template, priority_class, runtime_class = made
        return msgspec.structs.replace(
            revision, template=template, priority_class=priority_class, runtime_class=runtime_class
        )

    return decode
