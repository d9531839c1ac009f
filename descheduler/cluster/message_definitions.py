"""The messages of the API's protobuf that are read, reduced to the fields that are read.

Field numbers are those of `generated.proto` in `k8s.io/api/core/v1`, `k8s.io/apimachinery/pkg/apis/meta/v1` and
`k8s.io/apimachinery/pkg/api/resource` (1.36). They never change within an API version; `workloadRef` is that of 1.35,
which 1.36 reserves. Fields that are not named here are skipped.

A map is a list of entries on the wire and is read as one, which keeps its order and costs less than a map.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any, NamedTuple

import msgspec
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import Message

Value = None | bool | int | str | list["Value"] | dict[str, "Value"]
Reader = Callable[[Any], Value]


def json_of(message: Message) -> bytes:
    """`message` in JSON. Raises UnicodeDecodeError for text that is not UTF-8, ValueError for a time beyond years."""
    return msgspec.json.encode(_object(message))


def moment_of(time: Any) -> datetime | None:
    """A `Time`; None for the zero time of Go, which is written as nothing. Raises ValueError for one beyond years."""
    seconds = time.seconds
    if not seconds and not time.HasField("seconds"):
        return None
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, OSError) as error:
        raise ValueError(f"time of {time.seconds} seconds is out of range") from error


def _object(message: Message) -> dict[str, Value]:
    found: dict[str, Value] = {}
    for field, value in message.ListFields():
        known = _known.get(field)
        if known is None:
            known = _known[field] = field.name, _reader(field, value)
        name, read = known
        if read is _embedded:
            found.update(_object(value))
        else:
            found[name] = read(value)
    return found


_known: dict[Any, tuple[str, Reader]] = {}
"""Descriptor of a field that was seen → its name and what reads it: descriptors take their time to say so."""


def _reader(field: Any, value: Any) -> Reader:
    """What reads this field, of which `value` is one."""
    kind = field.message_type
    if kind is None:
        return _same if isinstance(value, str | int) else list
    if isinstance(value, Message):
        return _embedded if kind.name == "VolumeSource" else _SPECIAL.get(kind.name, _object)
    return _entries if kind.name.endswith("Entry") else _objects


def _same(value: Any) -> Value:
    return value  # type: ignore[no-any-return]  # text, a number or a truth value


def _embedded(value: Any) -> Value:
    """Of what Go embeds the fields stand among those around it."""
    return _object(value)


def _objects(values: Iterable[Message]) -> Value:
    return [_object(each) for each in values]


def _entries(values: Iterable[Any]) -> Value:
    return {entry.key: _entry(entry.value) for entry in values}


def _entry(value: Any) -> Value:
    return value if isinstance(value, str) else _quantity(value)


def _quantity(value: Any) -> Value:
    return str(value.string) or "0"


def _time(value: Any) -> Value:
    moment = moment_of(value)
    return None if moment is None else moment.isoformat()


_SPECIAL: Mapping[str, Reader] = {"Time": _time, "Quantity": _quantity}


_PACKAGE = "descheduler"

_SHARED = """
Time: seconds=1:int64
Quantity: string=1
TextEntry: key=1 value=2
QuantityEntry: key=1 value=2:Quantity
Owner: apiVersion=5 kind=1 name=3 uid=4 controller=6:bool
Expression: key=1 operator=2 values=3:*string
Selector: matchLabels=1:*TextEntry matchExpressions=2:*Expression
Metadata: name=1 namespace=3 uid=5 generation=7:int64 creationTimestamp=8:Time deletionTimestamp=9:Time
  labels=11:*TextEntry annotations=12:*TextEntry ownerReferences=13:*Owner
"""

_NODE = """
Node: metadata=1:Metadata spec=2:NodeSpec status=3:NodeStatus
NodeSpec: unschedulable=4:bool taints=5:*Taint
Taint: key=1 value=2 effect=3
NodeStatus: capacity=1:*QuantityEntry allocatable=2:*QuantityEntry conditions=4:*NodeCondition images=8:*NodeImage
  declaredFeatures=14:*string
NodeCondition: type=1 status=2
NodeImage: names=1:*string sizeBytes=2:int64
"""

_POD = """
Pod: metadata=1:Metadata spec=2:PodSpec status=3:PodStatus
PodSpec: volumes=1:*Volume containers=2:*Container terminationGracePeriodSeconds=4:int64 nodeSelector=7:*TextEntry
  nodeName=10 hostNetwork=11:bool
  affinity=18:Affinity schedulerName=19 initContainers=20:*Container tolerations=22:*Toleration
  priorityClassName=24 priority=25:int32 preemptionPolicy=31 overhead=32:*QuantityEntry
  topologySpreadConstraints=33:*Spread hostUsers=37:bool schedulingGates=38:*Gate
  resourceClaims=39:*Claim resources=40:Resources workloadRef=42:Workload schedulingGroup=43:Group
Resources: limits=1:*QuantityEntry requests=2:*QuantityEntry
Container: name=1 image=2 ports=6:*Port resources=8:Resources restartPolicy=24 restartPolicyRules=25:*RestartRule
Port: hostPort=2:int32 protocol=4 hostIP=5
RestartRule: action=1
Toleration: key=1 operator=2 value=3 effect=4 tolerationSeconds=5:int64
Gate: name=1
Claim: name=1 resourceClaimName=3 resourceClaimTemplateName=4
Workload: name=1
Group: podGroupName=1
Affinity: nodeAffinity=1:NodeAffinity podAffinity=2:PodAffinity podAntiAffinity=3:PodAffinity
NodeAffinity: requiredDuringSchedulingIgnoredDuringExecution=1:NodeSelector
  preferredDuringSchedulingIgnoredDuringExecution=2:*PreferredNode
NodeSelector: nodeSelectorTerms=1:*NodeTerm
NodeTerm: matchExpressions=1:*Expression matchFields=2:*Expression
PreferredNode: weight=1:int32 preference=2:NodeTerm
PodAffinity: requiredDuringSchedulingIgnoredDuringExecution=1:*PodTerm
  preferredDuringSchedulingIgnoredDuringExecution=2:*WeightedPodTerm
PodTerm: labelSelector=1:Selector namespaces=2:*string topologyKey=3 namespaceSelector=4:Selector
  matchLabelKeys=5:*string mismatchLabelKeys=6:*string
WeightedPodTerm: weight=1:int32 podAffinityTerm=2:PodTerm
Spread: maxSkew=1:int32 topologyKey=2 whenUnsatisfiable=3 labelSelector=4:Selector minDomains=5:int32
  nodeAffinityPolicy=6 nodeTaintsPolicy=7 matchLabelKeys=8:*string
Volume: name=1 volumeSource=2:VolumeSource
VolumeSource: hostPath=1:Present emptyDir=2:Present gcePersistentDisk=3:GceDisk awsElasticBlockStore=4:VolumeDisk
  iscsi=8:IscsiDisk persistentVolumeClaim=10:ClaimSource rbd=11:RbdDisk cinder=13:CinderDisk azureDisk=22:AzureDisk
  portworxVolume=24:CinderDisk ephemeral=29:Ephemeral image=30:ImageSource
Present:
ClaimSource: claimName=1
GceDisk: pdName=1 readOnly=4:bool
VolumeDisk: volumeID=1 readOnly=4:bool
IscsiDisk: iqn=2 readOnly=6:bool
RbdDisk: monitors=1:*string image=2 pool=4 readOnly=8:bool
CinderDisk: volumeID=1 readOnly=3:bool
AzureDisk: diskURI=2 readOnly=5:bool kind=6
ImageSource: reference=1
Ephemeral: volumeClaimTemplate=1:ClaimTemplate
ClaimTemplate: metadata=1:Metadata spec=2:ClaimSpec
ClaimSpec: accessModes=1:*string resources=2:ClaimResources volumeName=3 selector=4:Selector storageClassName=5
  volumeMode=6 volumeAttributesClassName=9
ClaimResources: requests=2:*QuantityEntry
PodStatus: phase=1 conditions=2:*Condition reason=4 startTime=7:Time containerStatuses=8:*ContainerStatus qosClass=9
  initContainerStatuses=10:*ContainerStatus nominatedNodeName=11 ephemeralContainerStatuses=13:*ContainerStatus
  resourceClaimStatuses=15:*ClaimStatus extendedResourceClaimStatus=18:ExtendedClaimStatus
  allocatedResources=19:*QuantityEntry resources=20:Resources
ClaimStatus: name=1 resourceClaimName=2
ExtendedClaimStatus: resourceClaimName=2
Condition: type=1 status=2 lastTransitionTime=4:Time reason=5
ContainerStatus: name=1 state=2:State restartCount=5:int32 allocatedResources=10:*QuantityEntry resources=11:Resources
State: waiting=1:Waiting terminated=3:Terminated
Waiting: reason=1
Terminated: exitCode=1:int32 reason=3
"""

_BRIEF = """
NamelessVolume: volumeSource=2:BriefVolumeSource
NameEntry: key=1
TimelessCondition: type=1 status=2 reason=5
BriefPod: metadata=1:BriefMetadata spec=2:BriefPodSpec status=3:BriefPodStatus
AnnotatedPod: metadata=1:Annotations
Annotations: annotations=12:*TextEntry
TimedPod: metadata=1:BriefMetadata spec=2:BriefPodSpec status=3:TimedPodStatus
"""
"""A pod without what mostly is its own and is mostly not read: the names of the volumes that kubelets mount for
each pod, values of annotations, and times of conditions, which a timed pod has."""
_BRIEF_STATUS = {
    "startTime": "Time",
    "containerStatuses": "BriefStatus",
    "initContainerStatuses": "BriefStatus",
    "ephemeralContainerStatuses": "BriefStatus",
}
_VARIANTS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "BriefMetadata": (
        "Metadata",
        {"creationTimestamp": "Time", "deletionTimestamp": "Time", "annotations": "NameEntry"},
    ),
    "BriefPodSpec": (
        "PodSpec",
        {"volumes": "NamelessVolume", "containers": "BriefContainer", "initContainers": "BriefContainer"},
    ),
    "BriefContainer": ("Container", {}),
    "BriefVolumeSource": ("VolumeSource", {"persistentVolumeClaim": "ClaimSource"}),
    "BriefPodStatus": ("PodStatus", {**_BRIEF_STATUS, "conditions": "TimelessCondition"}),
    "TimedPodStatus": ("PodStatus", {**_BRIEF_STATUS, "conditions": "Condition"}),
    "BriefStatus": ("ContainerStatus", {"state": "State"}),
}
"""Name → the message it is a variant of, and its fields of another type.

What else are messages in it stay bytes: that costs a third, and of what is in them nothing is a pod's own."""

_TYPES = {
    "string": descriptor_pb2.FieldDescriptorProto.TYPE_STRING,
    "bytes": descriptor_pb2.FieldDescriptorProto.TYPE_BYTES,
    "int32": descriptor_pb2.FieldDescriptorProto.TYPE_INT32,
    "int64": descriptor_pb2.FieldDescriptorProto.TYPE_INT64,
    "bool": descriptor_pb2.FieldDescriptorProto.TYPE_BOOL,
}
_FIELD = re.compile(r"(\w+)=(\d+)(?::(\*?)(\w+))?")


def message_class(name: str) -> type[Message]:
    """The class of the message `name` of the tables above. Raises KeyError for another."""
    found: type[Message] = message_factory.GetMessageClass(_pool().FindMessageTypeByName(f"{_PACKAGE}.{name}"))
    return found


@cache
def _pool() -> descriptor_pool.DescriptorPool:
    # Like the `proto2` of Kubernetes, edition 2023 tells a field that is absent from one that is zero. It also checks
    # that text is UTF-8, where the former gives bytes for text that is not.
    file = descriptor_pb2.FileDescriptorProto(name="descheduler.proto", package=_PACKAGE)
    file.syntax, file.edition = "editions", descriptor_pb2.EDITION_2023
    for name, fields in _tables().items():
        message = file.message_type.add(name=name)
        for field, number, repeated, kind in fields:
            added = message.field.add(name=field, number=int(number))
            added.label = added.LABEL_REPEATED if repeated else added.LABEL_OPTIONAL
            added.type = _TYPES.get(kind, added.TYPE_MESSAGE)
            if kind not in _TYPES:
                added.type_name = f".{_PACKAGE}.{kind}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return pool


def _tables() -> dict[str, list[_Field]]:
    text = (_SHARED + _NODE + _POD + _BRIEF).replace("\n  ", " ")
    tables = {}
    for line in text.split("\n"):
        name, _, fields = line.partition(":")
        if name:
            tables[name] = [
                _Field(name, number, repeated, kind or "string")
                for name, number, repeated, kind in _FIELD.findall(fields)
            ]
    for name, (whole, types) in _VARIANTS.items():
        tables[name] = [
            field._replace(kind=types.get(field.name) or (field.kind if field.kind in _TYPES else "bytes"))
            for field in tables[whole]
        ]
    return tables


class _Field(NamedTuple):
    name: str
    number: str
    repeated: str
    kind: str
