"""What tells a placeholder of this program from a pod that only looks like one.

A label proves nothing: templates are copied, and whoever may create pods writes what labels he likes. A pod is a
placeholder of ours when its name follows from the UID of its job, it has no owner, and it is of the class and the form
that this program gives placeholders.

A mutating admission webhook can change all of that but the name. Such a pod holds no room, but must not be left behind
either: it is removed where the API server says that it was created for a job of ours.
"""

from __future__ import annotations

from typing import Any

import msgspec

from descheduler.eviction.migration_controller.room_provider import PLACEHOLDER_CLASS
from descheduler.migration.pods import decode_pod
from descheduler.migration.room.labels import JOB_LABEL, CreatorsWire, label_fault, manager_of, placeholder_name_of
from descheduler.migration.room.placeholder.pod import CONTAINER, IMAGE
from descheduler.model.koordinator.migration_job import MigrationJob
from descheduler.model.pod import Pod
from descheduler.model.text.printable import clipped

_MOST_SHOWN = 100


class _Wire(msgspec.Struct, rename="camel"):
    """What is read here may be null, as Kubernetes' own decoder has it."""


class _Container(_Wire):
    name: str | None = None
    image: str | None = None
    command: list[Any] | None = None
    args: list[Any] | None = None


class _Spec(_Wire):
    priority_class_name: str | None = None
    termination_grace_period_seconds: int | None = None
    automount_service_account_token: bool | None = None
    init_containers: list[Any] | None = None
    containers: list[_Container] | None = None


class _PodWire(_Wire):
    metadata: CreatorsWire
    spec: _Spec


_decode = msgspec.json.Decoder(_PodWire).decode


class FoundPlaceholder(msgspec.Struct, frozen=True):
    """A pod that may be a placeholder. `differs` says what tells it from one of ours, "" where nothing does.

    `set_by` are the field managers that have stated fields of it, none where it has an owner.
    """

    pod: Pod
    differs: str
    set_by: frozenset[str] = frozenset()

    @property
    def job_uid(self) -> str:
        """The UID of the job that it says it holds room for."""
        return self.pod.labels.get(JOB_LABEL, "")

    def is_of(self, job_uid: str) -> bool:
        """Whether it is ours, and holds room for the job with this UID."""
        return not self.differs and self.job_uid == job_uid

    def was_created_for(self, job: MigrationJob) -> bool:
        """Whether it is ours of `job`, or was so when it was created, and an admission webhook has changed it."""
        is_named_so = (self.pod.namespace, self.pod.name) == (job.pod_namespace, placeholder_name_of(job.uid))
        return is_named_so and (self.is_of(job.uid) or manager_of(job.uid) in self.set_by)


def decode_placeholder(block: bytes, owner: str) -> FoundPlaceholder:
    """The pod of these bytes, as one of ours of `owner` would be."""
    pod, wire = decode_pod(block), _decode(block)
    return FoundPlaceholder(pod, _differs(pod, wire, owner), wire.metadata.set_by)


def _differs(pod: Pod, wire: _PodWire, owner: str) -> str:
    """The first thing that is another one than with ours."""
    if fault := label_fault(pod.labels, owner):
        return fault
    job_uid, spec = pod.labels[JOB_LABEL], wire.spec
    if pod.name != placeholder_name_of(job_uid):
        return f"its name is not {placeholder_name_of(job_uid)} (label {JOB_LABEL})"
    for reference in wire.metadata.owner_references or ():
        return f"{reference.kind} {reference.name} owns it"
    if spec.priority_class_name != PLACEHOLDER_CLASS:
        return f"its priorityClassName is {spec.priority_class_name or 'not set'}, not {PLACEHOLDER_CLASS}"
    return _spec_differs(spec)


def _spec_differs(spec: _Spec) -> str:
    containers = spec.containers or []
    names = [clipped(each.name or "", _MOST_SHOWN) for each in containers]
    if spec.init_containers or names != [CONTAINER]:
        return f"it has other containers than {CONTAINER}"
    (container,) = containers
    if not _is_image(container.image or "", IMAGE):
        return f"its image is {clipped(container.image or '', _MOST_SHOWN)}, not {IMAGE}"
    if container.command or container.args:
        return "its container has a command"
    if spec.termination_grace_period_seconds or spec.automount_service_account_token is not False:
        return "it has a grace period or a token, which placeholders do not have"
    return ""


def _is_image(found: str, ours: str) -> bool:
    """Whether it is our image, or the same of a mirror to which an admission webhook has led it."""
    return found.partition("@")[0].rpartition("/")[2] == ours.rpartition("/")[2]
