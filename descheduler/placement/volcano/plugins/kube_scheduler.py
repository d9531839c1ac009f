"""Filters and scores of kube-scheduler as the plugins predicates and nodeorder of Volcano run them.

Predicates is also the plugin that keeps the pods of nodes up to date.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import msgspec
import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from descheduler.model.kube_version import KubeVersion
from descheduler.model.pod import Pod
from descheduler.placement.configuration.kube_scheduler.configuration import load_scheduler_configuration
from descheduler.placement.configuration.kube_scheduler.plugin_args import SCHEDULER_API_VERSION
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.configuration.volcano import PluginOption
from descheduler.placement.configuration.volcano_arguments import Arguments
from descheduler.placement.framework.evaluation import PodEvaluation
from descheduler.placement.framework.extension_points import ScorePlugin
from descheduler.placement.framework.interactions import Interplay
from descheduler.placement.framework.obstacle import Code, Obstacle
from descheduler.placement.framework.scheduler import Scheduler
from descheduler.placement.framework.scoring import Amounts, OwnNodeScore
from descheduler.placement.plugins.image_locality import ImageLocality
from descheduler.placement.plugins.node_resources_balanced_allocation import NodeResourcesBalancedAllocation
from descheduler.placement.plugins.table import PLUGINS
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.shadow.placement_class import PlacementClass
from descheduler.placement.shadow.shadow_cluster import Cycle, ShadowCluster
from descheduler.placement.shadow.views import SeenPod
from descheduler.placement.volcano.jobs import Task
from descheduler.placement.volcano.plugins.resource_strategy_fit import ScarceResource, proportional_codes
from descheduler.placement.volcano.session import Session
from descheduler.placement.volcano.tiers import OPEN, UNRESOLVABLE, UNSCHEDULABLE, Callbacks, NodeCodes, as_before

_KUBE_VERSION = KubeVersion.parse("1.30")
_CODES = {Code.UNSCHEDULABLE: UNSCHEDULABLE, Code.UNRESOLVABLE: UNRESOLVABLE, Code.UNDECIDED: OPEN}


def _profile(points: Mapping[str, Iterable[str]], args: Mapping[str, Any] | None = None) -> SchedulerProfile:
    """A profile that runs these plugins at these points and no others."""
    enabled = {"queueSort": ("PrioritySort",), "bind": ("DefaultBinder",), **points}
    sets = {point: {"enabled": [{"name": name} for name in names]} for point, names in enabled.items()}
    configs = [{"name": name, "args": own} for name, own in (args or {}).items()]
    profile = {"plugins": {"multiPoint": {"disabled": [{"name": "*"}]}, **sets}, "pluginConfig": configs}
    document = {"apiVersion": SCHEDULER_API_VERSION, "kind": "KubeSchedulerConfiguration", "profiles": [profile]}
    return _read(msgspec.json.encode(document))


@lru_cache(maxsize=128)
def _read(document: bytes) -> SchedulerProfile:
    """The one profile of a configuration in JSON; sessions ask for the same few again and again."""
    configuration = msgspec.json.decode(document)
    made = load_scheduler_configuration(configuration, version=_KUBE_VERSION, plugins=PLUGINS).profiles[0]
    return msgspec.structs.replace(made, made_of=_KUBE_VERSION)


def has_pod_affinity(pod: Pod) -> bool:
    """Whether it says anything of the pods that it is placed with."""
    affinity = pod.spec.affinity
    return affinity is not None and bool(affinity.pod_required or affinity.anti_required or _prefers_pods(pod))


def _prefers_pods(pod: Pod) -> bool:
    affinity = pod.spec.affinity
    return affinity is not None and bool(affinity.pod_preferred or affinity.anti_preferred)


class KubeFilters:
    """The filters `names`, in this order: of what refuses a node Volcano reports the first."""

    def __init__(self, cluster: ShadowCluster, names: Iterable[str], *, is_proportional: bool = False) -> None:
        self.is_proportional = is_proportional
        """Whether a task has to leave enough cpu and memory beside what is scarce, too."""
        listed = tuple(names)
        prepared = [name for name in listed if "pre_filter" in PLUGINS[name].points]
        self._scheduler = Scheduler(cluster, _profile({"preFilter": prepared, "filter": listed}), plugins=PLUGINS)
        self.names = listed

    @property
    def interplay(self) -> Interplay:
        """How pods bear on each other by them."""
        return self._scheduler

    def evaluate(self, task: Task) -> PodEvaluation:
        """What they say of the pod, as the cluster is now."""
        return self._scheduler.evaluate(task.pod)

    def obstacle(self, name: str, cycle: Cycle, node: int, bits: int) -> Obstacle:
        """The words of a filter for what it has against `node`."""
        return self._scheduler.obstacle(name, cycle, node, bits)

    def lasting_bits(self, name: str) -> np.uint32:
        """The bits of a filter that stay on a node, whatever is moved."""
        return self._scheduler.lasting_bits(name)

    def codes(self, task: Task) -> NodeCodes:
        """For each node the code of the first that refuses it."""
        evaluation = self.evaluate(task)
        num_nodes = len(evaluation.feasible)
        if evaluation.refusals:
            return np.full(num_nodes, UNRESOLVABLE, dtype=np.int8)
        codes = np.full(num_nodes, OPEN, dtype=np.int8)
        codes[~evaluation.asked()] = UNRESOLVABLE
        for name in self.names:
            bits = evaluation.bits.get(name)
            if bits is not None:
                self._note(codes, evaluation, name, bits)
        return codes

    def _note(self, codes: NodeCodes, evaluation: PodEvaluation, name: str, bits: NDArray[np.uint32]) -> None:
        """Notes what one filter says of nodes that the ones before it have passed."""
        plugin = self._scheduler.filters[name]
        kinds, first = np.unique(bits, return_index=True)
        with evaluation.cycle.view():
            for kind, node in zip(kinds.tolist(), first.tolist(), strict=True):
                if kind:
                    code = _CODES[plugin.obstacle(evaluation.cycle, node, kind).code]
                    codes[(bits == kind) & (codes == OPEN)] = code


class _Balance(NodeResourcesBalancedAllocation):
    """The score as Kubernetes 1.30 has it, of pods that ask for nothing as well."""

    def asked_by(self, pod: PlacementClass) -> Amounts | None:
        """What counts for the pod."""
        return self.amounts_of(pod)


class _FirstImages(ImageLocality):
    """The score in the first cycle of a process, where each node knows the nodes that came before it, and itself.

    Later each update of a node counts all that hold its images.
    """

    def spread_of(self, holders: Sequence[int]) -> Iterable[tuple[int, Sequence[int]]]:
        """One more for each node."""
        return [(number, (node,)) for number, node in enumerate(holders, start=1)]


_SCORES: Mapping[str, Callable[[ShadowCluster, SchedulerProfile], ScorePlugin]] = {_Balance.name: _Balance}
_FIRST_SCORES = {**_SCORES, _FirstImages.name: _FirstImages}


class KubeScore:
    """The score `name` with `args`, for all nodes at once."""

    def __init__(
        self, cluster: ShadowCluster, name: str, args: Mapping[str, Any] | None = None, *, is_first_cycle: bool = False
    ) -> None:
        row = PLUGINS[name]
        score = (_FIRST_SCORES if is_first_cycle else _SCORES).get(name, row.score)
        prepared = {"preScore": (name,)} if "pre_score" in row.points else {}
        profile = _profile({"score": (name,), **prepared}, {name: args} if args else None)
        if score is None:
            raise ValueError(f"{name} does not score")
        self._cluster = cluster
        self._plugin: ScorePlugin = score(cluster, profile)

    @property
    def own_node(self) -> OwnNodeScore | None:
        """The plugin, where its scores hang on their own node alone."""
        return self._plugin if isinstance(self._plugin, OwnNodeScore) else None

    def of(
        self, task: Task, nodes: BoolMask, unlisted: tuple[SeenPod, ...] = (), *, is_raw: bool = False
    ) -> NDArray[np.float64] | None:
        """What each of `nodes` is given, None for nothing; the raw score is that before it is normalised.

        The affinity of `unlisted` pods says nothing to a pod without preferences for other pods.
        """
        unseen = unlisted if self._plugin.name == "InterPodAffinity" and not _prefers_pods(task.pod) else ()
        cycle = Cycle(self._cluster.placement_class(task.pod), self._cluster, unseen=unseen)
        with cycle.view():
            scores = self._plugin.score(cycle, nodes)
        if scores is None:
            return None
        found = scores.raw() if is_raw and scores.raw is not None else scores.final
        return found.astype(np.float64)


_SWITCHED = {
    "NodeAffinity": "NodeAffinity",
    "TaintToleration": "TaintToleration",
    "NodePorts": "NodePorts",
    "PodAffinity": "InterPodAffinity",
    "NodeVolumeLimits": "NodeVolumeLimits",
    "VolumeZone": "VolumeZone",
    "PodTopologySpread": "PodTopologySpread",
}
"""Switch of the plugin's arguments → filter, in the order in which they run."""


def start_predicates(session: Session, option: PluginOption) -> Callbacks:
    """The filters that the arguments leave, and NodeUnschedulable."""
    arguments = option.arguments
    enabled = (name for key, name in _SWITCHED.items() if arguments.switch(f"predicate.{key}Enable", default=True))
    names = ("NodeUnschedulable", *enabled)
    scarce = list(_scarce(arguments)) if arguments.switch("predicate.ProportionalEnable", default=False) else []
    filters = session.kept(names, lambda: KubeFilters(session.cluster, names, is_proportional=bool(scarce)))
    session.accounts["predicates"] = filters

    def predicate(task: Task) -> NodeCodes:
        codes = filters.codes(task)
        return np.where(codes == OPEN, proportional_codes(session, task, scarce), codes).astype(np.int8)

    if session.is_following:
        return Callbacks(predicate=predicate, reopen=as_before)
    company = _Company(session)
    return Callbacks(predicate=predicate, allocated=company.add, deallocated=company.remove)


class _Company:
    """Keeps the pods on nodes up to date for the filters and scores.

    Volcano lists the nodes with pods that have affinity, and with those that have required anti-affinity, when a
    session opens, and looks at no others: the terms of a pod that is placed elsewhere count from the next cycle on.
    """

    def __init__(self, session: Session) -> None:
        self._cluster = session.cluster
        self._unlisted = session.unlisted
        placed = session.cluster.placed_pods
        self._nodes_with_affinity = {node for pod, node in placed if has_pod_affinity(pod)}
        self._listed = {node for pod, node in placed if _anti_affinity(pod)}
        self._seen: dict[str, Pod] = {}

    def add(self, task: Task) -> None:
        """`task` is on its node, with the terms that count."""
        pod, affinity = task.pod, task.pod.spec.affinity
        if affinity is not None and _anti_affinity(pod) and task.node not in self._listed:
            spec = replace(pod.spec, affinity=replace(affinity, anti_required=()))
            pod = self._seen[task.uid] = replace(pod, spec=spec)
        self._cluster.add(pod, task.node)
        if has_pod_affinity(task.pod) and task.node not in self._nodes_with_affinity:
            self._unlisted[task.uid] = SeenPod(pod, task.node)

    def remove(self, task: Task) -> None:
        """It is so no longer."""
        self._unlisted.pop(task.uid, None)
        self._cluster.remove(self._seen.pop(task.uid, task.pod), task.node)


def _anti_affinity(pod: Pod) -> bool:
    return pod.spec.affinity is not None and bool(pod.spec.affinity.anti_required)


def _scarce(arguments: Arguments) -> Iterator[ScarceResource]:
    for name in arguments.names("predicate.resources"):
        prefix = f"predicate.resources.{name}"
        yield ScarceResource.of(name, arguments.number(f"{prefix}.cpu", 1), arguments.number(f"{prefix}.memory", 1))
