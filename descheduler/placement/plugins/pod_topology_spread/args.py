"""Arguments of `PodTopologySpread`, by the rules of Kubernetes 1.36.

These are in `pkg/scheduler/apis/config/v1/defaults.go` and `pkg/scheduler/apis/config/validation`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from descheduler.documents.decode import Path
from descheduler.documents.problems import did_you_mean, shown
from descheduler.model.selection.affinity import TopologySpreadConstraint
from descheduler.model.selection.labels import key_problem
from descheduler.placement.configuration.kube_scheduler.plugin_args import ArgsBlock, ArgsKind
from descheduler.policy.shared_args import Args, Int32, LabelSelectorArg

__all__ = ["ARGS", "SYSTEM_DEFAULT_CONSTRAINTS", "PodTopologySpreadArgs"]

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
