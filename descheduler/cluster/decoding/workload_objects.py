"""Controllers of pods from the bytes of the API to model values, with or without the pods that they make."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from descheduler.cluster.decoding.affinity_blocks import decode_nullable_selector
from descheduler.cluster.decoding.blocks import decode_labels, decode_owners, decode_text
from descheduler.cluster.decoding.decode import Decoding, PodDecoder
from descheduler.cluster.decoding.pods.defaults import TemplateSpecWire, set_pod_defaults
from descheduler.cluster.decoding.volume_blocks import ClaimTemplateWire, claim_template
from descheduler.cluster.decoding.wire import ABSENT, Int32, MetadataWire, PodWire, Wire
from descheduler.model.annotations import REVISION_ANNOTATION
from descheduler.model.objects import Workload
from descheduler.model.selection.labels import NOTHING, LabelSelector, Requirement

__all__ = ["workload_decoder"]


class _WorkloadSpecWire(Wire):
    replicas: Int32 | None = None
    parallelism: Int32 | None = None
    selector: msgspec.Raw = ABSENT
    pod_management_policy: str | None = None
    pod_replacement_policy: str | None = None
    volume_claim_templates: list[ClaimTemplateWire] | None = None


class _WorkloadWire(Wire):
    metadata: MetadataWire | None = None
    spec: _WorkloadSpecWire | None = None


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


_read_workload = msgspec.json.Decoder(_WorkloadWire).decode
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

    def decode(block: bytes) -> Workload:
        wire = _read_workload(block)
        metadata, spec = wire.metadata or MetadataWire(), wire.spec or _WorkloadSpecWire()
        replicas = spec.parallelism if kind == "Job" else spec.replicas
        return Workload(
            kind=kind,
            namespace=metadata.namespace or "",
            name=metadata.name or "",
            uid=metadata.uid or "",
            replicas=1 if replicas is None else replicas,
            owners=decode_owners(bytes(metadata.owner_references)),
            selector=_selector(kind, bytes(spec.selector)),
            revision=_revision(metadata),
            pod_management_policy=spec.pod_management_policy or "",
            pod_replacement_policy=spec.pod_replacement_policy or "",
            claim_templates=tuple(claim_template(template) for template in spec.volume_claim_templates or ()),
            is_deleting=metadata.deletion_timestamp is not None,
        )

    return decode


def _selector(kind: str, block: bytes) -> LabelSelector:
    if kind != "ReplicationController":
        return decode_nullable_selector(block, NOTHING)
    labels = decode_labels(block)
    if not labels:
        return NOTHING
    return LabelSelector(tuple(Requirement(key, "In", frozenset((labels[key],))) for key in sorted(labels)))


def _revision(metadata: MetadataWire) -> int:
    text = decode_text((metadata.annotations or {}).get(REVISION_ANNOTATION, ABSENT))
    return int(text) if text.isascii() and text.isdigit() else 0


def _with_template(workload: Workload, block: bytes, pods: PodDecoder) -> Workload:
    """`workload`, decoded from `block`, with the pod that it makes next. Raises ValueError on a malformed template."""
    spec = _read_templated(block).spec
    template = spec.template if spec else None
    if template is None:
        return workload
    metadata, template_spec = template.metadata or _TemplateMetadataWire(), template.spec or TemplateSpecWire()
    pod = PodWire(
        metadata=MetadataWire(namespace=workload.namespace, labels=metadata.labels, annotations=metadata.annotations),
        spec=set_pod_defaults(template_spec),
    )
    return msgspec.structs.replace(
        workload,
        template=pods.decode(pod),
        priority_class=template_spec.priority_class_name or "",
        runtime_class=template_spec.runtime_class_name or "",
    )
