"""Which Kubernetes the cluster runs, and what of its scheduler differs from one version to the next.

Every difference is one row of `GATES`: a feature gate under the name that Kubernetes gives it, or, in `snake_case`, a
behaviour that came with a release and that no gate of Kubernetes switches. Gates of koord-scheduler, which takes them
by the same flag, stand beside those of Kubernetes. Rules ask `KubeVersion.gate` and nothing else. Versions and
dependencies are those of `pkg/features/kube_features.go` of Kubernetes 1.37.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import msgspec

OLDEST = (1, 33)
"""The oldest release whose scheduler is described here."""
NEWEST = (1, 37)
"""The newest one, and the one that is assumed when nothing else is known."""
_NEVER = (99, 0)
_STREAMED_SINCE = (1, 33)
_LIST = "docs/reference/feature-gates.md"


class KubeVersionError(ValueError):
    """A version that cannot be read, or a gate that does not exist; the message names it."""


class Gate(msgspec.Struct, frozen=True):
    """One difference between releases: `effect` is on from the release `since` on and before the release `until`.

    Overrides of the operator come before either.
    """

    name: str
    since: tuple[int, int]
    """99.0 for what is off by default in every release described here."""
    effect: str
    """What holds while it is on."""
    requires: tuple[str, ...] = ()
    """Gates without which it has no effect."""
    until: tuple[int, int] = _NEVER
    """The first release that is without it again; 99.0 while all later ones have it."""


GATES: Mapping[str, Gate] = {
    gate.name: gate
    for gate in (
        Gate(
            "DRAExtendedResource",
            (1, 36),
            "a device class may serve an extended resource",
            ("DynamicResourceAllocation",),
        ),
        Gate("DRADeviceTaintRules", (1, 37), "DeviceTaintRules put taints on devices", ("DynamicResourceAllocation",)),
        Gate("DisableDefaultQuota", _NEVER, "koord-scheduler: a pod has the elastic quota of its label, or none"),
        Gate("DynamicResourceAllocation", (1, 34), "resource claims are allocated by the plugin DynamicResources"),
        Gate(
            "ElasticQuotaGuaranteeUsage",
            _NEVER,
            "koord-scheduler: an elastic quota keeps what its pods use, and lends nothing",
        ),
        Gate(
            "ElasticQuotaIgnorePodOverhead",
            _NEVER,
            "koord-scheduler: the overhead of a runtime class is not charged to elastic quotas",
        ),
        Gate(
            "ElasticQuotaIgnoreTerminatingPod",
            _NEVER,
            "koord-scheduler: pods that should have terminated by now are not charged to elastic quotas",
        ),
        Gate(
            "ElasticQuotaImmediateIgnoreTerminatingPod",
            _NEVER,
            "koord-scheduler: terminating pods are not charged to elastic quotas",
        ),
        Gate("GangScheduling", (1, 37), "pods of a pod group wait for each other", ("GenericWorkload",)),
        Gate("GenericWorkload", _NEVER, "pods may belong to a workload's pod group"),
        Gate(
            "InPlacePodLevelResourcesVerticalScaling",
            (1, 36),
            "a running pod also occupies what its status says at the level of the pod",
            ("InPlacePodVerticalScaling", "PodLevelResources", "NodeDeclaredFeatures"),
        ),
        Gate("InPlacePodVerticalScaling", (1, 33), "a running pod occupies the larger of its spec and its status"),
        Gate("MatchLabelKeysInPodTopologySpread", (1, 27), "matchLabelKeys narrow a spread constraint's selector"),
        Gate(
            "MatchLabelKeysInPodTopologySpreadSelectorMerge",
            (1, 34),
            "the API server writes matchLabelKeys into a spread constraint's selector when it stores the pod",
            ("MatchLabelKeysInPodTopologySpread",),
        ),
        Gate("MultiQuotaTree", _NEVER, "koord-scheduler: elastic quotas with different tree-id labels are apart"),
        Gate("NodeDeclaredFeatures", (1, 36), "a node must declare the features that a pod needs"),
        Gate("OpportunisticBatching", (1, 35), "the result for one pod may serve the next identical ones"),
        Gate("PodLevelResources", (1, 34), "requests at the level of the pod replace the sum over its containers"),
        Gate("StorageCapacityScoring", (1, 37), "the plugin VolumeBinding scores nodes by their storage"),
        Gate("SupportParentQuotaSubmitPod", _NEVER, "Koordinator's webhook admits pods to quotas with children"),
        Gate("TaintTolerationComparisonOperators", _NEVER, "tolerations may compare with Gt and Lt"),
        Gate("VolumeAttributesClass", (1, 34), "a volume is bound only to a claim of the same attributes class"),
        Gate(
            "VolumeLimitScaling",
            (1, 37),
            "a node without a CSI driver takes no volume of it where the CSIDriver sets preventPodSchedulingIfMissing",
        ),
        Gate(
            "bounds_image_volumes", (1, 37), "images mounted as volumes raise the upper bound of ImageLocality's scores"
        ),
        Gate(
            "charges_shared_devices_once",
            (1, 37),
            "a device with a share in use that states no amounts is not charged to its counters again",
        ),
        Gate("counts_devices_by_driver", (1, 37), "pools of two drivers with one name do not share their counters"),
        Gate(
            "counts_portworx_volumes_everywhere",
            (1, 36),
            "Portworx volumes count for the limit of their CSI driver, whatever a CSINode says of migration",
        ),
        Gate("counts_ports_of_sidecars", (1, 34), "NodePorts looks at the host ports of sidecars too"),
        Gate("keeps_all_distinct_attributes", (1, 37), "distinctAttribute compares a device with all before it"),
        Gate(
            "keeps_short_devices_among_all",
            (1, 37),
            "allocationMode: All fails where a shared device has too little capacity left",
        ),
        Gate(
            "matches_negative_namespace_selectors_everywhere",
            (1, 34),
            "a namespaceSelector of the incoming pod that the empty label set meets selects every namespace"
            " (kubernetes/kubernetes issue 141526, measured on 1.36.3)",
            until=(1, 37),
        ),
        Gate(
            "narrows_to_named_node",
            (1, 37),
            "NodeName narrows the nodes before they are looked at, and runs before NodeUnschedulable",
        ),
        Gate(
            "rules_out_nodes_too_small",
            (1, 34),
            "NodeResourcesFit says of a node that is too small as a whole that no preemption helps",
        ),
        Gate("scores_balance_change", (1, 36), "NodeResourcesBalancedAllocation scores the change of balance"),
        Gate(
            "scores_image_volumes", (1, 36), "ImageLocality scores images mounted as volumes like those of containers"
        ),
        Gate("sees_counters_by_node", (1, 37), "shared counters are in sight of the nodes of their slice alone"),
        Gate(
            "sums_resized_requests",
            (1, 37),
            "a running pod occupies the largest of three sums over its containers: spec, allocated and actual requests",
        ),
        Gate("ties_in_examined_order", (1, 35), "the first examined of several best nodes is taken, not a random one"),
        Gate("tries_devices_in_order", (1, 36), "devices are tried in the order of their pools and slices"),
    )
}
"""Every difference by name."""

_SYNTAX = re.compile(r"v?(\d{1,9})\.(\d{1,9})(?:[.+-].{0,200})?", re.ASCII)


@dataclass(frozen=True, slots=True)
class KubeVersion:
    """A release of Kubernetes, within `OLDEST` and `NEWEST`, and the gates that the operator set otherwise.

    Raises KubeVersionError for a release outside of them; `parse` takes the nearest one instead.
    """

    major: int = NEWEST[0]
    minor: int = NEWEST[1]
    overrides: tuple[tuple[str, bool], ...] = ()
    """Gates set by `with_gates`, by name."""
    note: str = field(default="", compare=False)
    """What to tell the user when `parse` took the nearest release for another one, else empty."""

    def __post_init__(self) -> None:
        if not OLDEST <= (self.major, self.minor) <= NEWEST:
            raise KubeVersionError(f"Kubernetes {self} is not supported; use {_dotted(OLDEST)} to {_dotted(NEWEST)}")

    def __str__(self) -> str:
        return _dotted((self.major, self.minor))

    @classmethod
    def parse(cls, text: str) -> KubeVersion:
        """The version in `text`, such as `1.36`, `v1.35.1+k3s1` or the `1.34+` that a managed cluster answers.

        An older or newer release than those described is taken for the nearest one, and `note` says so. Raises
        KubeVersionError when `text` is no version.
        """
        match = _SYNTAX.fullmatch(text.strip())
        if match is None:
            raise KubeVersionError(f"{text[:80]!r} is not a Kubernetes version; write it as 1.36 or v1.36.3")
        release = int(match[1]), int(match[2])
        major, minor = min(max(release, OLDEST), NEWEST)
        return cls(major, minor, note=_note(release))

    def with_gates(self, gates: Mapping[str, bool]) -> KubeVersion:
        """This version with `gates` set, on top of those already set. Raises KubeVersionError for an unknown one."""
        for name in gates:
            _known(name)
        return replace(self, overrides=tuple(sorted({**dict(self.overrides), **gates}.items())))

    def gate(self, name: str) -> bool:
        """Whether the gate `name` of `GATES`, and every one it requires, is on. Raises KubeVersionError if unknown."""
        gate = _known(name)
        is_on = dict(self.overrides).get(name, gate.since <= (self.major, self.minor) < gate.until)
        return is_on and all(self.gate(required) for required in gate.requires)


def encodes_as_stream(git_version: str) -> bool:
    """Whether the API server of this version sends a long list object by object instead of making it whole first.

    The gates StreamingCollectionEncodingToJSON and StreamingCollectionEncodingToProtobuf are on by default from 1.33 on
    and cannot be switched off from 1.34 on. A version that cannot be read is taken for an old one.
    """
    match = _SYNTAX.fullmatch(git_version.strip())
    return match is not None and (int(match[1]), int(match[2])) >= _STREAMED_SINCE


def _dotted(release: tuple[int, int]) -> str:
    return f"{release[0]}.{release[1]}"


def _note(release: tuple[int, int]) -> str:
    if release < OLDEST:
        return (
            f"Kubernetes {_dotted(release)} is not supported; the rules of {_dotted(OLDEST)}, the oldest release, apply"
        )
    if release > NEWEST:
        return (
            f"Kubernetes {_dotted(release)} is not supported; the rules of {_dotted(NEWEST)}, the newest release, apply"
        )
    return ""


def _known(name: str) -> Gate:
    gate = GATES.get(name)
    if gate is not None:
        return gate
    by_lower_case = {known.lower(): known for known in GATES}
    near = difflib.get_close_matches(name[:80].lower(), by_lower_case, n=1, cutoff=0.7)
    hint = f"did you mean {by_lower_case[near[0]]!r}?" if near else f"those that change a decision are in {_LIST}"
    raise KubeVersionError(f"unknown gate {name[:80]!r}; {hint}")
