"""What the program knows of a kind of objects: one row of the table in `cluster.kinds`.

Traces are what pods and nodes show of objects of other kinds. Where nothing shows, a dump can lack the kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from itertools import chain
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeAlias, TypeVar

from descheduler.cluster.kept.shapes import IDENTITY, Fields
from descheduler.model.groups.gangs import COSCHEDULING_LABEL, OTHER_GANG_ANNOTATIONS
from descheduler.model.koordinator.batch_resources import BATCH_NAMES, MID_NAMES
from descheduler.model.node import Node
from descheduler.model.pod import Pod, PodSpec

if TYPE_CHECKING:
    from descheduler.cluster.decoding.decode import Decoding

_KOORDINATOR_KEYS = ("koordinator.sh", "scheduling.sigs.k8s.io", *BATCH_NAMES.values(), *MID_NAMES.values())
_VOLCANO_KEYS = ("volcano.sh", *OTHER_GANG_ANNOTATIONS)


class Trace(Enum):
    """Something of a pod or a node that objects of another kind belong to."""

    KOORDINATOR = auto()
    """A scheduler, or a label, annotation or resource of Koordinator."""
    VOLCANO = auto()
    """The same of Volcano."""
    COSCHEDULING = auto()
    """A pod of a gang of scheduler-plugins."""
    SCHEDULING_GROUP = auto()
    """A pod with `spec.schedulingGroup`."""
    CLAIMED_VOLUME = auto()
    """A pod with the claim of a volume."""
    VOLUME = auto()
    """A pod with a volume that a driver attaches, claimed or not."""
    DEVICE_CLAIM = auto()
    """A pod with a resource claim, or that requests what no node allocates, as a device class may stand for."""
    REPLICA_SET = auto()
    """A pod of one, and so on for the other controllers."""
    STATEFUL_SET = auto()
    REPLICATION_CONTROLLER = auto()
    JOB = auto()
    CLONE_SET = auto()


TRACES_OF_SCHEDULERS = frozenset({Trace.KOORDINATOR, Trace.VOLCANO, Trace.COSCHEDULING})
"""What a file that configures a scheduler can bring in for pods that show nothing of it."""
_OWNERS: Mapping[str, Trace] = {
    "ReplicaSet": Trace.REPLICA_SET,
    "StatefulSet": Trace.STATEFUL_SET,
    "ReplicationController": Trace.REPLICATION_CONTROLLER,
    "Job": Trace.JOB,
    "CloneSet": Trace.CLONE_SET,
}


def find_traces(pods: Iterable[Pod], nodes: Iterable[Node]) -> frozenset[Trace]:
    """Everything that shows in `pods` and `nodes`. What equal pods share is looked at once."""
    pods, nodes = tuple(pods), tuple(nodes)
    specs = tuple({id(pod.spec): pod.spec for pod in pods}.values())
    owners = {owner.kind for pod in pods for owner in pod.owners}
    return frozenset(
        chain(
            (trace for kind, trace in _OWNERS.items() if kind in owners),
            _of_schedulers(pods, nodes, specs),
            _of_volumes(pods, specs),
            (Trace.DEVICE_CLAIM for _ in range(1) if _claims_devices(specs, nodes)),
        )
    )


def _of_schedulers(pods: tuple[Pod, ...], nodes: tuple[Node, ...], specs: tuple[PodSpec, ...]) -> Iterator[Trace]:
    schedulers = {spec.scheduler_name for spec in specs}
    labels = chain((pod.labels for pod in pods), (node.labels for node in nodes))
    annotations = chain((pod.annotations for pod in pods), (node.annotations for node in nodes))
    blocks = {id(block): block for block in chain(labels, annotations)}
    resources = chain((spec.requests for spec in specs), (node.allocatable for node in nodes))
    keys = {key for block in chain(blocks.values(), resources) for key in block}
    if any(sign in key for key in keys for sign in _KOORDINATOR_KEYS) or any("koord" in name for name in schedulers):
        yield Trace.KOORDINATOR
    if any(sign in key for key in keys for sign in _VOLCANO_KEYS) or any("volcano" in name for name in schedulers):
        yield Trace.VOLCANO
    if COSCHEDULING_LABEL in keys:
        yield Trace.COSCHEDULING
    if any(spec.has_scheduling_group for spec in specs):
        yield Trace.SCHEDULING_GROUP


def _of_volumes(pods: tuple[Pod, ...], specs: tuple[PodSpec, ...]) -> Iterator[Trace]:
    if any(pod.claim_names or pod.ephemeral_volumes for pod in pods):
        yield from (Trace.CLAIMED_VOLUME, Trace.VOLUME)
    elif any(spec.inline_disks for spec in specs):
        yield Trace.VOLUME


def _claims_devices(specs: tuple[PodSpec, ...], nodes: tuple[Node, ...]) -> bool:
    allocated = {name for node in nodes for name in node.allocatable}
    return any(
        spec.has_resource_claims or any("/" in name for name in spec.requests.keys() - allocated) for spec in specs
    )


_PAGE_SIZE = 2500
"""The API server counts what is left of a list for every page, so that at 150,000 pods it spends twice the time on
pages of 500; larger pages than this gain little, and two of them are in memory at a time."""


class NamedObject(Protocol):
    """A decoded object. One that lives in a namespace has that as `namespace`."""

    @property
    def name(self) -> str:
        """`metadata.name`."""


ObjectT = TypeVar("ObjectT", bound=NamedObject)


@dataclass(frozen=True, slots=True, eq=False)
class Kind(Generic[ObjectT]):
    """A kind of objects: `api_version` is the version that a cluster is asked for.

    `plural` is what it calls the list; what Kubernetes guesses from the name where it is not said
    (`k8s.io/apimachinery/pkg/api/meta/restmapper.go` 1.36, UnsafeGuessKindToResource).
    """

    name: str
    api_version: str
    plural: str = ""
    purpose: str = ""
    """What its objects are read for, a clause for the reference."""
    decoder: Callable[[Decoding], Callable[[bytes], ObjectT]] = field(kw_only=True)
    """Makes what decodes an object, whose errors are ValueError and RecursionError."""
    older_versions: tuple[str, ...] = ()
    """Versions of its group that older clusters serve it in, the newest first."""
    kept: Fields = field(default_factory=lambda: IDENTITY, repr=False)
    """What a dump keeps of an object. Whatever is not listed is in no dump."""
    is_optional: bool = False
    """Whether a cluster may lack the kind."""
    is_measured: bool = False
    """Whether a fault is no more than absence: only the plugin that wants its figures goes without."""
    page_size: int = _PAGE_SIZE
    """Objects asked for at once."""
    is_essential: bool = False
    """Whether a run ends on a broken object of a live cluster: without the object, pods that have to stay could be
    evicted. Of other kinds the object is skipped and named."""
    traces: frozenset[Trace] = frozenset()
    """What shows in pods or nodes where its objects have an effect, one of these; without any they always can."""
    is_message: bool = False
    """Whether it is read in protobuf from a server that speaks it."""
    key: str = field(init=False)
    """`name.group`, or the bare name of a core kind: there are three kinds PodGroup."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", kind_key(self.name, self.api_version))
        object.__setattr__(self, "plural", self.plural or _guessed_plural(self.name))

    @property
    def in_older_versions(self) -> tuple[AnyKind, ...]:
        """The same kind in each of its older versions."""
        return tuple(replace(self, api_version=version, older_versions=()) for version in self.older_versions)

    @property
    def group(self) -> str:
        """Its API group, "" for core kinds."""
        return self.api_version.rpartition("/")[0]

    @property
    def path(self) -> str:
        """The list of the whole cluster."""
        return f"/{'apis' if self.group else 'api'}/{self.api_version}/{self.plural}"

    @property
    def resource(self) -> str:
        """What `kubectl get` calls it, with its group where it has one."""
        return f"{self.plural}.{self.group}" if self.group else self.plural


AnyKind: TypeAlias = Kind[Any]
"""A kind, whatever its objects are decoded to."""


def _guessed_plural(name: str) -> str:
    singular = name.lower()
    if singular.endswith("y"):
        return f"{singular[:-1]}ies"
    return f"{singular}es" if singular.endswith("s") else f"{singular}s"


def kind_key(name: str, api_version: str) -> str:
    """What the table knows the kind by that an object states as `kind` and `apiVersion`.

    The version within the group says nothing: the fields that are read are the same in all served versions.
    """
    group = api_version.rpartition("/")[0]
    return f"{name}.{group}" if group else name


def unshared(decode: Callable[[bytes], ObjectT]) -> Callable[[Decoding], Callable[[bytes], ObjectT]]:
    """The decoder of objects that have nothing in common with others."""
    return lambda _: decode


def name_of(item: NamedObject) -> tuple[str, str]:
    """Namespace, "" where it has none, and name."""
    return getattr(item, "namespace", ""), item.name
