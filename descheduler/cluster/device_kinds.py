"""The rows of the kinds of `resource.k8s.io` in the table of kinds: which devices there are, and who has them."""

from __future__ import annotations

from descheduler.cluster.decoding.resource_claims.claims import decode_resource_claim, decode_resource_claim_template
from descheduler.cluster.decoding.resource_claims.slices import (
    decode_device_class,
    decode_device_taint_rule,
    decode_resource_slice,
)
from descheduler.cluster.kept import kubernetes
from descheduler.cluster.kind import AnyKind, Kind, unshared

__all__ = ["DEVICE_KIND_ROWS"]

_RESOURCE = "resource.k8s.io"
_OLDER_RESOURCE = (f"{_RESOURCE}/v1beta2", f"{_RESOURCE}/v1beta1")
_SLICE_PAGE_SIZE = 500
"""Slices describe up to 128 devices each."""

DEVICE_KIND_ROWS: tuple[AnyKind, ...] = (
    Kind(
        "ResourceClaim",
        f"{_RESOURCE}/v1",
        "resourceclaims",
        purpose="devices that pods claim, and those that are allocated to them",
        decoder=unshared(decode_resource_claim),
        kept=kubernetes.RESOURCE_CLAIM,
        is_optional=True,
        older_versions=_OLDER_RESOURCE,
    ),
    Kind(
        "ResourceClaimTemplate",
        f"{_RESOURCE}/v1",
        "resourceclaimtemplates",
        purpose="the claims that are made for a new pod",
        decoder=unshared(decode_resource_claim_template),
        kept=kubernetes.RESOURCE_CLAIM_TEMPLATE,
        is_optional=True,
        older_versions=_OLDER_RESOURCE,
    ),
    Kind(
        "DeviceClass",
        f"{_RESOURCE}/v1",
        "deviceclasses",
        purpose="which devices a class stands for",
        decoder=unshared(decode_device_class),
        kept=kubernetes.DEVICE_CLASS,
        is_optional=True,
        older_versions=_OLDER_RESOURCE,
    ),
    Kind(
        "ResourceSlice",
        f"{_RESOURCE}/v1",
        "resourceslices",
        purpose="the devices that drivers publish",
        decoder=unshared(decode_resource_slice),
        kept=kubernetes.RESOURCE_SLICE,
        is_optional=True,
        page_size=_SLICE_PAGE_SIZE,
        older_versions=_OLDER_RESOURCE,
    ),
    Kind(
        "DeviceTaintRule",
        f"{_RESOURCE}/v1",
        "devicetaintrules",
        purpose="taints that operators put on devices",
        decoder=unshared(decode_device_taint_rule),
        kept=kubernetes.DEVICE_TAINT_RULE,
        is_optional=True,
        older_versions=(f"{_RESOURCE}/v1beta2", f"{_RESOURCE}/v1alpha3"),
    ),
)
"""In reading order."""
