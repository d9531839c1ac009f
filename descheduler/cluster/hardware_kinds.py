"""The rows of volumes and of devices in the table of kinds: which there are, and who has them."""

from __future__ import annotations

from functools import partial

from descheduler.cluster.decoding import storage_objects
from descheduler.cluster.decoding.resource_claims import decode_resource_claim, decode_resource_claim_template
from descheduler.cluster.decoding.resource_slices import (
    decode_device_class,
    decode_device_taint_rule,
    decode_resource_slice,
)
from descheduler.cluster.kept import kubernetes
from descheduler.cluster.kind import AnyKind, Kind, Trace, unshared

_STORAGE = "storage.k8s.io"
_RESOURCE = "resource.k8s.io"
_OLDER_RESOURCE = (f"{_RESOURCE}/v1beta2", f"{_RESOURCE}/v1beta1")
_SLICE_PAGE_SIZE = 500
"""Slices describe up to 128 devices each."""

_device_kind = partial(Kind, is_optional=True, older_versions=_OLDER_RESOURCE, traces=frozenset({Trace.DEVICE_CLAIM}))
_claimed_volume_kind = partial(Kind, traces=frozenset({Trace.CLAIMED_VOLUME}))

DEVICE_KIND_ROWS: tuple[AnyKind, ...] = (
    _device_kind(
        "ResourceClaim",
        f"{_RESOURCE}/v1",
        purpose="devices that pods claim, and those that are allocated to them",
        decoder=unshared(decode_resource_claim),
        kept=kubernetes.RESOURCE_CLAIM,
    ),
    _device_kind(
        "ResourceClaimTemplate",
        f"{_RESOURCE}/v1",
        purpose="the claims that are made for a new pod",
        decoder=unshared(decode_resource_claim_template),
        kept=kubernetes.RESOURCE_CLAIM_TEMPLATE,
    ),
    _device_kind(
        "DeviceClass",
        f"{_RESOURCE}/v1",
        purpose="which devices a class stands for",
        decoder=unshared(decode_device_class),
        kept=kubernetes.DEVICE_CLASS,
    ),
    _device_kind(
        "ResourceSlice",
        f"{_RESOURCE}/v1",
        purpose="the devices that drivers publish",
        decoder=unshared(decode_resource_slice),
        kept=kubernetes.RESOURCE_SLICE,
        page_size=_SLICE_PAGE_SIZE,
    ),
    _device_kind(
        "DeviceTaintRule",
        f"{_RESOURCE}/v1",
        purpose="taints that operators put on devices",
        decoder=unshared(decode_device_taint_rule),
        kept=kubernetes.DEVICE_TAINT_RULE,
        older_versions=(f"{_RESOURCE}/v1beta2", f"{_RESOURCE}/v1alpha3"),
    ),
)
"""The kinds of `resource.k8s.io`, in reading order."""

VOLUME_KIND_ROWS: tuple[AnyKind, ...] = (
    _claimed_volume_kind(
        "PersistentVolume",
        "v1",
        purpose="the nodes from which a volume can be used",
        decoder=unshared(storage_objects.decode_volume),
        kept=kubernetes.VOLUME,
    ),
    _claimed_volume_kind(
        "StorageClass",
        f"{_STORAGE}/v1",
        purpose="when and where volumes are provisioned",
        decoder=unshared(storage_objects.decode_storage_class),
        kept=kubernetes.STORAGE_CLASS,
    ),
    Kind(
        "CSINode",
        f"{_STORAGE}/v1",
        purpose="how many volumes a node can attach",
        decoder=unshared(storage_objects.decode_csi_node),
        kept=kubernetes.CSI_NODE,
        traces=frozenset({Trace.VOLUME}),
    ),
    _claimed_volume_kind(
        "CSIDriver",
        f"{_STORAGE}/v1",
        purpose="whether a storage driver publishes its capacity",
        decoder=unshared(storage_objects.decode_csi_driver),
        kept=kubernetes.CSI_DRIVER,
    ),
    _claimed_volume_kind(
        "CSIStorageCapacity",
        f"{_STORAGE}/v1",
        purpose="the free capacity for new volumes",
        decoder=unshared(storage_objects.decode_storage_capacity),
        kept=kubernetes.STORAGE_CAPACITY,
    ),
    Kind(
        "VolumeAttachment",
        f"{_STORAGE}/v1",
        purpose="which volumes are attached to which nodes",
        decoder=unshared(storage_objects.decode_attachment),
        kept=kubernetes.ATTACHMENT,
        traces=frozenset({Trace.VOLUME}),
    ),
)
"""PersistentVolumes, and the kinds of `storage.k8s.io`."""
