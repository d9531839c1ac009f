"""Arguments of `PodTopologySpread`, and its constraints as they bear on one placement class.

Mirrors `k8s.io/kubernetes/pkg/scheduler/framework/plugins/podtopologyspread/common.go` (1.36), which its filter and
its score share; the arguments `pkg/scheduler/apis/config/v1/defaults.go` and `pkg/scheduler/apis/config/validation`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec
import numpy as np

from descheduler.cluster.snapshot import Snapshot
from descheduler.documents.decode import Path
from descheduler.documents.problems import did_you_mean, shown
from descheduler.model.objects import Service
from descheduler.model.pod import Pod
from descheduler.model.selection.affinity import TopologySpreadConstraint
from descheduler.model.selection.labels import EVERYTHING, NOTHING, LabelSelector, Requirement, key_problem
from descheduler.placement.configuration.kube_scheduler.plugin_args import ArgsBlock, ArgsKind
from descheduler.placement.framework.extension_points import CountedDomains, SpreadConstraint
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.shadow.placement_class import honoured_tolerations
from descheduler.placement.shadow.shadow_cluster import ShadowCluster
from descheduler.placement.shadow.tally.pod_tally import PodQuery
from descheduler.placement.shadow.topology import Topology
from descheduler.policy.shared_args import Args, Int32, LabelSelectorArg

_DEFAULTING_TYPES = ("System", "List")
_WHEN_UNSATISFIABLE = ("DoNotSchedule", "ScheduleAnyway")
_INCLUSION_POLICIES = ("Honor", "Ignore")

SYSTEM_DEFAULT_CONSTRAINTS = (
    TopologySpreadConstraint(3, "kubernetes.io/hostname", "ScheduleAnyway"),
    TopologySpreadConstraint(5, "topology.kubernetes.io/zone", "ScheduleAnyway"),
)
"""What spreads pods without constraints of their own unless the profile says otherwise."""


class PodTopologySpreadArgs(msgspec.Struct, frozen=True):
    """Constraints for pods that have none of their own. Their selector follows from the pod, so none is set here."""

    default_constraints: tuple[TopologySpreadConstraint, ...] = SYSTEM_DEFAULT_CONSTRAINTS
    is_system_defaulted: bool = True
    """Whether they are the system's, for which nodes without a key are not left out of scoring."""


class SpreadConstraintSection(Args, frozen=True):
    """One of `defaultConstraints`."""

    max_skew: Int32 = 0
    """How many more pods than the emptiest domain a domain may hold; at least 1."""
    topology_key: str = ""
    """The label that tells domains apart."""
    when_unsatisfiable: str = ""
    """`DoNotSchedule` or `ScheduleAnyway`."""
    label_selector: LabelSelectorArg | None = None
    """Not to be given: it follows from the services and the owner of each pod."""
    min_domains: Int32 | None = None
    """How many domains there have to be before the emptiest one counts."""
    node_affinity_policy: str = "Honor"
    """`Honor` leaves out nodes that the pod does not select, `Ignore` counts them."""
    node_taints_policy: str = "Ignore"
    """`Honor` leaves out nodes with taints that the pod does not tolerate, `Ignore` counts them."""
    match_label_keys: tuple[str, ...] = ()
    """Labels of the pod whose values the pods that count share."""


class PodTopologySpreadSection(Args, frozen=True):
    """`PodTopologySpreadArgs`."""

    default_constraints: tuple[SpreadConstraintSection, ...] = ()
    """For pods without any of their own; only with defaultingType `List`."""
    defaulting_type: str = ""
    """`System` (the default) spreads by host and zone, `List` as listed."""


def _read_spread(block: ArgsBlock, section: PodTopologySpreadSection) -> PodTopologySpreadArgs | None:
    defaulting = section.defaulting_type or "System"
    block.choose(("defaultingType",), defaulting, _DEFAULTING_TYPES)
    if defaulting == "System":
        if section.default_constraints:
            message = "is System, which excludes defaultConstraints; write List, or remove them"
            block.fail(("defaultingType",), message)
        return None
    constraints = tuple(
        _read_constraint(block, constraint, ("defaultConstraints", index), section.default_constraints[:index])
        for index, constraint in enumerate(section.default_constraints)
    )
    return PodTopologySpreadArgs(constraints, is_system_defaulted=False)


def _read_constraint(
    block: ArgsBlock, section: SpreadConstraintSection, path: Path, earlier: Sequence[SpreadConstraintSection]
) -> TopologySpreadConstraint:
    if section.max_skew < 1:
        block.fail((*path, "maxSkew"), f"{section.max_skew} is below 1")
    if not section.topology_key:
        block.fail((*path, "topologyKey"), "is missing; name the label that tells domains apart")
    elif problem := key_problem(section.topology_key):
        block.fail((*path, "topologyKey"), problem)
    block.choose((*path, "whenUnsatisfiable"), section.when_unsatisfiable, _WHEN_UNSATISFIABLE)
    if section.label_selector is not None:
        message = "is given, but it follows from each pod's services and owner; remove it"
        block.fail((*path, "labelSelector"), message)
    pair = section.topology_key, section.when_unsatisfiable
    if pair in ((other.topology_key, other.when_unsatisfiable) for other in earlier):
        block.fail(path, f"{shown(pair[0])} is constrained by an earlier {pair[1]} too; keep one of them")
    _check_policies(block, section, path)
    return TopologySpreadConstraint(
        max_skew=section.max_skew,
        topology_key=section.topology_key,
        when_unsatisfiable=section.when_unsatisfiable,
        match_label_keys=section.match_label_keys,
        node_affinity_policy=section.node_affinity_policy,
        node_taints_policy=section.node_taints_policy,
        min_domains=section.min_domains,
    )


def _check_policies(block: ArgsBlock, section: SpreadConstraintSection, path: Path) -> None:
    """kube-scheduler accepts any word here, and takes what is not Honor for Ignore."""
    given = {"nodeAffinityPolicy": section.node_affinity_policy, "nodeTaintsPolicy": section.node_taints_policy}
    for key, policy in given.items():
        if policy not in _INCLUSION_POLICIES:
            hint = did_you_mean(policy, _INCLUSION_POLICIES)
            block.warn((*path, key), f"{shown(policy)} is neither Honor nor Ignore and is treated as Ignore{hint}")


def _shown(args: PodTopologySpreadArgs) -> Mapping[str, object]:
    return {
        "defaultConstraints": [f"{c.topology_key} {c.when_unsatisfiable}" for c in args.default_constraints],
        "defaultingType": "System" if args.is_system_defaulted else "List",
    }


ARGS = ArgsKind(PodTopologySpreadSection, _read_spread, PodTopologySpreadArgs, _shown)


_HONOR = "Honor"
_LABEL_KEYS_GATE = "MatchLabelKeysInPodTopologySpread"
_REPLICATION_CONTROLLER = ("v1", "ReplicationController")
_SELECTING_OWNERS = (_REPLICATION_CONTROLLER, ("apps/v1", "ReplicaSet"), ("apps/v1", "StatefulSet"))


class _DefaultSelectors:
    """Selectors of default topology spread constraints, made from the Services and the owners of a snapshot.

    Mirrors `DefaultSelector` of `k8s.io/kubernetes/pkg/scheduler/framework/plugins/helper/spread.go` (1.36).
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._services: dict[tuple[str, str, str], list[Service]] = {}
        for service in snapshot.services:
            for key, value in sorted(service.selector.items())[:1]:
                self._services.setdefault((service.namespace, key, value), []).append(service)

    def selector(self, pod: Pod) -> LabelSelector:
        """What the Services that select `pod` and its controlling owner select together; everything if there is none.

        The owner's selector counts whether it selects `pod` or not. It overrules those of Services where the owner is
        a ReplicationController; with any other, pods must meet both.
        """
        labels = {key: value for service in self._services_of(pod) for key, value in service.selector.items()}
        kind, owned = self._selected_by_owner(pod)
        if kind == _REPLICATION_CONTROLLER:
            labels.update((requirement.key, next(iter(requirement.values))) for requirement in owned)
            owned = ()
        wanted = (*(Requirement(key, "In", frozenset((value,))) for key, value in labels.items()), *owned)
        return EVERYTHING.with_requirements(tuple(dict.fromkeys(wanted)))

    def _services_of(self, pod: Pod) -> Iterator[Service]:
        for key, value in pod.labels.items():
            for service in self._services.get((pod.namespace, key, value), ()):
                if service.selector.items() <= pod.labels.items():
                    yield service

    def _selected_by_owner(self, pod: Pod) -> tuple[tuple[str, str], tuple[Requirement, ...]]:
        owner = pod.controller
        kind = ("", "") if owner is None else (owner.api_version, owner.kind)
        if owner is None or kind not in _SELECTING_OWNERS:
            return kind, ()
        workload = self._snapshot.workloads_by_name.get((owner.kind, pod.namespace, owner.name))
        return kind, () if workload is None else workload.selector.requirements


class SpreadConstraints:
    """Makes the constraints of pods, with the defaults that `args` names for pods without any of their own."""

    def __init__(self, cluster: ShadowCluster, args: PodTopologySpreadArgs) -> None:
        self.topology = Topology(cluster.table)
        self._masks = cluster.table.masks
        self._version = cluster.version
        self._args = args
        self._selectors = _DefaultSelectors(cluster.snapshot)
        self._counted: dict[object, CountedDomains] = {}

    def requires_all_keys(self, pod: Pod) -> bool:
        """Whether a node must have the keys of all constraints to count at all; not so for the system's defaults."""
        return bool(pod.spec.topology_spread) or not self._args.is_system_defaulted

    def of(self, pod: Pod, when_unsatisfiable: str) -> tuple[SpreadConstraint, ...]:
        """The constraints of `pod` that have this `whenUnsatisfiable`, in order.

        Raises ValueError for a selector that cannot be read, which the API server does not store.
        """
        stated = pod.spec.topology_spread or self._args.default_constraints
        stated = tuple(constraint for constraint in stated if constraint.when_unsatisfiable == when_unsatisfiable)
        if not stated:
            return ()
        default = None
        if not pod.spec.topology_spread:
            default = self._selectors.selector(pod)
            if default.is_empty:
                return ()
        keys = frozenset(constraint.topology_key for constraint in stated)
        if not self.requires_all_keys(pod):
            keys = frozenset()
        return tuple(self._constraint(pod, constraint, default, keys) for constraint in stated)

    def _constraint(
        self, pod: Pod, stated: TopologySpreadConstraint, default: LabelSelector | None, keys: frozenset[str]
    ) -> SpreadConstraint:
        if stated.error:
            raise ValueError(stated.error)
        selector = default or self._narrowed(stated, pod)
        # A selector of everything matches the pod itself, yet counting takes it for one of nothing.
        counted = NOTHING if selector.is_empty else selector
        return SpreadConstraint(
            max_skew=stated.max_skew,
            min_domains=1 if stated.min_domains is None else stated.min_domains,
            topology_key=stated.topology_key,
            query=PodQuery(frozenset((pod.namespace,)), (counted,), counts_terminating=False),
            is_self_matching=selector.matches(pod.labels),
            counted=self._counted_domains(pod, stated, keys),
        )

    def _narrowed(self, stated: TopologySpreadConstraint, pod: Pod) -> LabelSelector:
        if not stated.match_label_keys or not self._version.gate(_LABEL_KEYS_GATE):
            return stated.selector
        present = [key for key in stated.match_label_keys if key in pod.labels]
        extra = [Requirement(key, "In", frozenset((pod.labels[key],))) for key in present]
        return stated.selector.with_requirements([r for r in extra if r not in stated.selector.requirements])

    def _counted_domains(self, pod: Pod, stated: TopologySpreadConstraint, keys: frozenset[str]) -> CountedDomains:
        masks = self._inclusion(pod, stated)
        # Masks are kept for good by those who make them, so identity stands for them.
        signature = stated.topology_key, keys, tuple(id(mask) for mask in masks)
        known = self._counted.get(signature)
        if known is None:
            domains = self.topology.domains(stated.topology_key)
            eligible = np.ones(len(domains.ids), dtype=bool)
            for mask in (*masks, *(self.topology.domains(key).has_key for key in keys)):
                eligible &= mask
            ids = domains.ids if keys else domains.ids_with_blank
            known = self._counted[signature] = CountedDomains(domains, ids, eligible)
        return known

    def _inclusion(self, pod: Pod, stated: TopologySpreadConstraint) -> list[BoolMask]:
        """The nodes that the constraint's inclusion policies let count, as masks that must all hold."""
        spec = pod.spec
        masks = []
        is_choosy = bool(spec.node_selector) or (spec.affinity is not None and spec.affinity.node_required is not None)
        if stated.node_affinity_policy == _HONOR and is_choosy:
            masks.append(self._masks.selected(spec.node_selector, spec.affinity))
        if stated.node_taints_policy == _HONOR:
            masks.append(self._masks.tolerated(honoured_tolerations(spec.tolerations, self._version)))
        return masks
