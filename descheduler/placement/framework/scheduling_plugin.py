"""What the table of scheduling plugins says of each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from enum import Enum
from functools import reduce
from typing import NamedTuple, Protocol

import msgspec

from descheduler.cluster.snapshot import Snapshot
from descheduler.model.kube_version import KubeVersion
from descheduler.model.pod import Pod
from descheduler.placement.configuration.kube_scheduler.plugin_args import PluginSettings
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.extension_points import Plugin, ScorePlugin
from descheduler.placement.framework.interactions import BY_REQUESTS, CAUTIOUS, OWN_NODE, Interactions
from descheduler.placement.framework.node_parts import NodeParts, NoParts
from descheduler.placement.framework.refused_node import Explain, RefusedNode
from descheduler.placement.shadow.placement_class import Mark
from descheduler.placement.shadow.shadow_cluster import ShadowCluster


class About(msgspec.Struct, frozen=True):
    """What a plugin checks and what it prefers, each empty where it does not, and the words in which it refuses.

    `reasons` are those of events. Parts in angle brackets stand for names.
    """

    check: str = ""
    preference: str = ""
    reasons: tuple[str, ...] = ()


class Compares(Enum):
    """What a plugin compares: of a node with a pod's requests, so that nodes it closes may open when pods leave, or
    how many pods there are of those that are spread."""

    REQUESTS = "requests"
    PARTS = "parts of nodes"
    CPUS = "single CPUs"
    SPREAD = "pods in topology domains"


class Preference(msgspec.Struct, frozen=True):
    """Which nodes are preferred by what is free there: those with more of it, or by `packing_weights` full ones.

    The weights are those of resources, empty where full nodes are not preferred. `prefers_idle_parts` says that parts
    of nodes, such as GPUs, are preferred which have more left.
    """

    prefers_empty_nodes: bool = False
    prefers_idle_parts: bool = False
    packing_weights: Mapping[str, int] = msgspec.field(default_factory=dict)

    def __or__(self, other: Preference) -> Preference:
        """Both together, of which not both speak of the same."""
        return Preference(
            self.prefers_empty_nodes or other.prefers_empty_nodes,
            self.prefers_idle_parts or other.prefers_idle_parts,
            self.packing_weights or other.packing_weights,
        )


class Unread(NamedTuple):
    """What a plugin cannot tell of every pod of a profile for want of objects that were not read, "" for nothing.

    `landing` is about whether a node takes it, `choice` about which of several nodes it gets.
    """

    landing: str = ""
    choice: str = ""


class Reading(Protocol):
    """Who reads of a cluster what it says: a row of a table."""

    @property
    def reads_annotations(self) -> tuple[str, ...]:
        """Keys of annotations of pods; all of a domain for one that ends with `/`."""

    @property
    def reads_kinds(self) -> frozenset[str]:
        """Kinds of objects beside pods and nodes, by their keys in the table of kinds."""


class SchedulingPlugin(PluginSettings, frozen=True, kw_only=True):
    """What runs under one plugin name: its row of the table.

    `plugin` takes part in all of `points` but Score, `score` in that one. `interactions` says how pods that are placed
    bear on each other by this plugin, under a profile; see Interactions. `explain` has more to say of its obstacles
    than their words, None where these say it all. `explain_shortage` says what it holds on a node that has too little
    of the named resources for a pod, None for one that holds none. `preempts` says that at PostFilter it evicts others
    for a pod that fits nowhere. `reads_annotations` are keys of annotations that its answers hang on, all of a domain
    for one that ends with `/`: they are decoded and go into dumps, and pods that differ in them are not of one
    placement class.
    `marks` gives, for a snapshot, what else tells its pods apart to the plugin, None for nothing; see Mark.
    `reads_kinds` are the kinds of objects that it reads beside pods and nodes, by their keys in the table of kinds.
    `queues` gives, for a snapshot, what waits for a node beside its pods, in the form of pods: schedulers that run the
    plugin place them.
    Without `is_modelled` nothing is said of what it decides, which concerns pods that ask for it, and scores at most.
    `doubt` says what it decides about every pod of a profile that is not modelled, "" for nothing; `unread` what it
    decides by objects of `reads_kinds` where these were not read, which a run does without; None where it does not.
    `compares` says what of a node its filter compares with what the pod asks for, None where it compares nothing, and
    `prefers` which nodes it gives a higher score for what is free there. `parts` are parts of nodes that it hands out,
    and that planners may count; None for none. `renews` gives a pod that its owner creates as a copy of another one
    without what the plugin gave to that one, such as devices or a claim of its own: the same object if that is nothing.
    `is_optional` says that a scheduler of another kind may do without it: what it refuses, the kubelet, the storage or
    the API server would take, and known schedulers let it be switched off.
    """

    plugin: Callable[[ShadowCluster, SchedulerProfile], Plugin] | None = None
    score: Callable[[ShadowCluster, SchedulerProfile], ScorePlugin] | None = None
    about: About = About()
    interactions: Callable[[SchedulerProfile], Interactions] = lambda profile: CAUTIOUS
    explain: Explain | None = None
    explain_shortage: Callable[[RefusedNode, AbstractSet[str]], Iterator[str]] | None = None
    preempts: bool = False
    is_modelled: bool = True
    doubt: Callable[[SchedulerProfile], str] = lambda profile: ""
    unread: Callable[[SchedulerProfile, Snapshot], Unread] | None = None
    compares: Compares | None = None
    prefers: Callable[[SchedulerProfile], Preference] | None = None
    parts: Callable[[ShadowCluster], NodeParts] | None = None
    renews: Callable[[Pod], Pod] | None = None
    is_optional: bool = False
    reads_annotations: tuple[str, ...] = ()
    marks: Callable[[Snapshot], Mark | None] | None = None
    queues: Callable[[Snapshot], Iterable[Pod]] | None = None
    reads_kinds: frozenset[str] = frozenset()


def annotations_read_by(rows: Iterable[Reading]) -> frozenset[str]:
    """The annotations of pods that any of `rows` reads."""
    return frozenset(key for row in rows for key in row.reads_annotations)


def check_annotations(cluster: ShadowCluster, rows: Mapping[str, SchedulingPlugin]) -> None:
    """Raises ValueError when pods of one class of `cluster` may differ in what a plugin reads."""
    missing = annotations_read_by(rows.values()) - cluster.read_annotations.keys
    if missing:
        raise ValueError(f"the shadow cluster does not tell pods apart by {', '.join(sorted(missing))}")


def shadow_cluster_of(
    snapshot: Snapshot,
    plugins: Mapping[str, SchedulingPlugin],
    version: KubeVersion | None = None,
    others: Iterable[Reading] = (),
) -> ShadowCluster:
    """The shadow cluster of `snapshot` over which any of `plugins` can run, and any of `others`."""
    rows = plugins.values()
    marks = (row.marks(snapshot) for row in rows if row.marks is not None)
    return ShadowCluster(
        snapshot,
        version=version,
        reads_annotations=annotations_read_by((*rows, *others)),
        marks=[mark for mark in marks if mark is not None],
    )


def parts_of(plugins: Iterable[SchedulingPlugin], cluster: ShadowCluster) -> NodeParts:
    """The parts of the nodes of `cluster`, by the first of `plugins` whose objects list any, else by the last one that
    hands any out."""
    parts: NodeParts = NoParts()
    for row in plugins:
        if row.parts is not None:
            parts = row.parts(cluster)
            if parts.is_listed:
                break
    return parts


def renewal_by(plugins: Iterable[SchedulingPlugin]) -> Callable[[Pod], Pod]:
    """What makes a pod that is created anew of a copy of one that was bound, by all of `plugins`."""
    renewals = [row.renews for row in plugins if row.renews is not None]
    return lambda pod: reduce(lambda made, renew: renew(made), renewals, pod)


def kinds_read_by(rows: Iterable[Reading]) -> frozenset[str]:
    """The kinds of objects that any of `rows` reads, beside pods and nodes."""
    return frozenset(key for row in rows for key in row.reads_kinds)


def own_node(profile: SchedulerProfile) -> Interactions:
    """The interactions of plugins by which placed pods bear on their own node only."""
    return OWN_NODE


def by_requests(profile: SchedulerProfile) -> Interactions:
    """The interactions of plugins by which placed pods take of their own node what they request, and nothing else."""
    return BY_REQUESTS
