"""All that a pod asks of devices: resources by type, hints, joint allocation, partition, templates.

Source: `preparePod` of `pkg/scheduler/plugins/deviceshare/utils.go` (koordinator 1.8).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

import msgspec

from descheduler.cluster.decoding.koordinator.devices import (
    decode_hints,
    decode_joint_allocation,
    decode_partition_spec,
)
from descheduler.model.annotations import (
    DEVICE_HINT_ANNOTATION,
    GPU_PARTITION_SPEC_ANNOTATION,
    JOINT_DEVICES_ANNOTATION,
)
from descheduler.model.koordinator.devices import GPU, Amounts, DeviceHint, JointAllocation, PartitionSpec
from descheduler.model.pod import Pod
from descheduler.model.selection.labels import LabelError
from descheduler.placement.plugins.device_share.args import DeviceShareArgs, Templates
from descheduler.placement.plugins.device_share.hardware import ISOLATION_LABEL
from descheduler.placement.plugins.device_share.reasons import DeviceReason
from descheduler.placement.plugins.device_share.requests import GpuRequest, RequestError, device_requests, gpu_request

Decoded = TypeVar("Decoded")
_ANNOTATIONS = (DEVICE_HINT_ANNOTATION, JOINT_DEVICES_ANNOTATION, GPU_PARTITION_SPEC_ANNOTATION)


class UnknownTemplatesError(Exception):
    """The pod asks for a GPU shared resource template, and the templates are not known."""


class PodDevices(msgspec.Struct, frozen=True, eq=False):
    """What a pod asks for by device type, and how.

    `joint` names none but types that are asked for and are not applied for all. `templates` are the names of templates
    that match, by `<vendor>-<model>`; None for a pod that needs none. `isolation_provider` is that of its label.
    """

    requests: Mapping[str, Amounts]
    gpu: GpuRequest | None
    hints: Mapping[str, DeviceHint]
    joint: JointAllocation | None
    partition: PartitionSpec | None
    isolation_provider: str
    templates: Mapping[str, tuple[str, ...]] | None

    @property
    def is_shared(self) -> bool:
        """Whether it asks for parts of GPUs."""
        return self.gpu is not None and self.gpu.is_shared

    @property
    def has_selectors(self) -> bool:
        """Whether it asks for devices by their labels."""
        return any(hint.selector is not None for hint in self.hints.values())

    @property
    def primary(self) -> str:
        """The leading type of a joint allocation, empty without one."""
        return self.joint.device_types[0] if self.joint is not None and self.joint.device_types else ""

    def hint(self, device_type: str) -> DeviceHint:
        """What it asks of a type beside resources."""
        return self.hints.get(device_type, _NO_HINT)


_NO_HINT = DeviceHint()


def request_key(pod: Pod) -> object:
    """The same for pods that ask the same of devices."""
    annotations = tuple(pod.annotations.get(key) for key in _ANNOTATIONS)
    requests = tuple(sorted(each for each in pod.spec.requests.items() if "/" in each[0]))
    return requests, annotations, pod.labels.get(ISOLATION_LABEL, "")


def devices_of(pod: Pod, args: DeviceShareArgs) -> PodDevices | None:
    """What `pod` asks for, None for nothing. Raises RequestError and UnknownTemplatesError."""
    requests = device_requests(pod.spec.requests)
    if not requests:
        return None
    hints = _decoded(pod, DEVICE_HINT_ANNOTATION, "DeviceAllocateHint", decode_hints) or {}
    joint = _decoded(pod, JOINT_DEVICES_ANNOTATION, "DeviceJointAllocate", decode_joint_allocation)
    if joint is not None:
        types = (each for each in joint.device_types if each in requests)
        joint = JointAllocation(
            tuple(each for each in types if not hints.get(each, _NO_HINT).applies_for_all), joint.is_same_pcie
        )
    gpu = gpu_request(requests[GPU]) if GPU in requests else None
    partition = None
    if gpu is not None:
        partition = _decoded(pod, GPU_PARTITION_SPEC_ANNOTATION, "GPUPartitionSpec", decode_partition_spec)
    provider = pod.labels.get(ISOLATION_LABEL, "")
    return PodDevices(requests, gpu, hints, joint, partition, provider, _matching_templates(gpu, args))


def _decoded(pod: Pod, key: str, name: str, decode: Callable[[str], Decoded]) -> Decoded | None:
    text = pod.annotations.get(key)
    if text is None:
        return None
    try:
        return decode(text)
    except LabelError as error:
        raise RequestError(str(error)) from error
    except (ValueError, RecursionError) as error:
        raise RequestError(f"invalid {name} annotation, err: {error}") from error


def _matching_templates(gpu: GpuRequest | None, args: DeviceShareArgs) -> Mapping[str, tuple[str, ...]] | None:
    if gpu is None or not gpu.is_shared or args.template_resources.isdisjoint(gpu.each):
        return None
    if args.templates is None:
        raise UnknownTemplatesError
    found = _matches(gpu.each, args.templates)
    if not found:
        raise RequestError(DeviceReason.NO_TEMPLATE.reason)
    return found


def _matches(each: Amounts, templates: Templates) -> dict[str, tuple[str, ...]]:
    """Those that are exactly what is asked for."""
    by_model = (
        (model, tuple(name for name, has in named.items() if has == each)) for model, named in templates.items()
    )
    return {model: names for model, names in by_model if names}
