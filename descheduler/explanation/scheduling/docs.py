"""What kube-scheduler's plugins check, in which words they refuse, and what they prefer (Kubernetes 1.36)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from descheduler.report.explanation.plugin import PluginArgument

__all__ = ["SCHEDULING_DOCS", "SchedulingDoc"]


@dataclass(frozen=True, slots=True)
class SchedulingDoc:
    """`check` is what it filters by and `preference` what it scores by; each is empty where it does not.

    `reasons` are the words in events. Parts in angle brackets stand for names.
    """

    check: str = ""
    preference: str = ""
    reasons: tuple[str, ...] = ()
    arguments: tuple[PluginArgument, ...] = ()


def _argument(name: str, type_text: str, default: str, meaning: str) -> PluginArgument:
    return PluginArgument(name=name, type_text=type_text, default=default, meaning=meaning)


_NO_PART = "It has no part in where a pod fits, so it is not asked here."

SCHEDULING_DOCS: Mapping[str, SchedulingDoc] = {
    "SchedulingGates": SchedulingDoc(
        check="A pod with scheduling gates is not tried until somebody takes the gates off.",
        reasons=("waiting for scheduling gates: [<gates>]",),
    ),
    "NodeUnschedulable": SchedulingDoc(
        check="A cordoned node takes no pod that does not tolerate node.kubernetes.io/unschedulable.",
        reasons=("node(s) were unschedulable",),
    ),
    "NodeName": SchedulingDoc(
        check="A pod that names a node goes to that node or nowhere.",
        reasons=("node(s) didn't match the requested node name",),
    ),
    "TaintToleration": SchedulingDoc(
        check="Every NoSchedule and NoExecute taint of a node has to be tolerated.",
        preference="Nodes with fewer PreferNoSchedule taints that the pod does not tolerate.",
        reasons=("node(s) had untolerated taint(s)",),
    ),
    "NodeAffinity": SchedulingDoc(
        check="The node has to carry the labels of nodeSelector and to meet a term of the required node affinity.",
        preference="Nodes that meet more of the preferred node affinity, by weight.",
        reasons=(
            "node(s) didn't match Pod's node affinity/selector",
            "node(s) didn't match scheduler-enforced node affinity",
            "pod affinity terms conflict",
        ),
        arguments=(
            _argument("addedAffinity", "node affinity", "", "Holds for every pod of the profile, beside its own."),
        ),
    ),
    "NodePorts": SchedulingDoc(
        check="A host port that the pod wants must not be held by another pod of the node.",
        reasons=("node(s) didn't have free ports for the requested pod ports",),
    ),
    "NodeResourcesFit": SchedulingDoc(
        check="What the pod requests has to be free on the node: allocatable less the requests of the pods there.",
        preference="By default emptier nodes, by the requests of cpu and memory.",
        reasons=("Insufficient <resource>", "Too many pods"),
        arguments=(
            _argument("ignoredResources", "list of string", "", "Extended resources that are not checked."),
            _argument("ignoredResourceGroups", "list of string", "", "All of a group, such as example.com."),
            _argument(
                "scoringStrategy.type",
                "string",
                '"LeastAllocated"',
                "`LeastAllocated` prefers empty nodes, `MostAllocated` full ones, `RequestedToCapacityRatio` follows a "
                "shape.",
            ),
            _argument(
                "scoringStrategy.resources",
                "list of name and weight",
                '[{"name": "cpu", "weight": 1}, {"name": "memory", "weight": 1}]',
                "What is scored.",
            ),
            _argument(
                "scoringStrategy.requestedToCapacityRatio.shape",
                "list of utilization and score",
                "",
                "Points of the function from utilization (0 to 100) to score (0 to 10).",
            ),
        ),
    ),
    "VolumeRestrictions": SchedulingDoc(
        check="A ReadWriteOncePod claim serves one pod, and some kinds of inline disks one pod a node.",
        reasons=(
            "node(s) had no available disk",
            "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by "
            "another pod",
        ),
    ),
    "NodeVolumeLimits": SchedulingDoc(
        check="A storage driver attaches only so many volumes to a node, as its CSINode says.",
        reasons=("node(s) exceed max volume count",),
    ),
    "VolumeBinding": SchedulingDoc(
        check="Bound volumes have to be in reach of the node, and unbound claims have to get a volume there.",
        reasons=(
            "node(s) didn't match PersistentVolume's node affinity",
            "node(s) didn't find available persistent volumes to bind",
            "node(s) did not have enough free storage",
            "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)",
            "pod has unbound immediate PersistentVolumeClaims",
        ),
        arguments=(
            _argument("bindTimeoutSeconds", "integer", "600", "How long binding may take; without effect here."),
            _argument("shape", "list of utilization and score", "", "Only with the gate StorageCapacityScoring."),
        ),
    ),
    "VolumeZone": SchedulingDoc(
        check="A volume whose labels name a zone or region is used from there alone.",
        reasons=("node(s) had no available volume zone",),
    ),
    "PodTopologySpread": SchedulingDoc(
        check="No domain may hold more than maxSkew pods above the emptiest one (topologySpreadConstraints that say "
        "DoNotSchedule).",
        preference="Domains with fewer of the pods, for constraints that say ScheduleAnyway; without any, nodes and "
        "zones with fewer pods of the same workload.",
        reasons=(
            "node(s) didn't match pod topology spread constraints",
            "node(s) didn't match pod topology spread constraints (missing required label)",
        ),
        arguments=(
            _argument(
                "defaultConstraints",
                "list of topology spread constraints",
                "",
                "For pods without any of their own; only with defaultingType `List`.",
            ),
            _argument("defaultingType", "string", '"System"', "`System` spreads by host and zone, `List` as listed."),
        ),
    ),
    "InterPodAffinity": SchedulingDoc(
        check="Required pod affinity and anti-affinity, of the pod and, for anti-affinity, of the pods that are there.",
        preference="Nodes near the pods that preferred terms ask for, and far from those that they shun.",
        reasons=(
            "node(s) didn't match pod affinity rules",
            "node(s) didn't match pod anti-affinity rules",
            "node(s) didn't satisfy existing pods anti-affinity rules",
        ),
        arguments=(
            _argument(
                "hardPodAffinityWeight",
                "integer from 0 to 100",
                "1",
                "What a required affinity of an existing pod counts for when it means the incoming one.",
            ),
            _argument(
                "ignorePreferredTermsOfExistingPods",
                "true or false",
                "false",
                "Whether pods without preferred terms of their own are not scored at all.",
            ),
        ),
    ),
    "DynamicResources": SchedulingDoc(
        check="Devices for the pod's resource claims. A snapshot holds no devices, so such pods cannot be judged.",
        reasons=("uses resource claims, which a snapshot cannot allocate",),
        arguments=(
            _argument("filterTimeout", "duration", "10s", "Without effect here."),
            _argument("bindingTimeout", "duration", "10m0s", "Without effect here."),
        ),
    ),
    "NodeDeclaredFeatures": SchedulingDoc(
        check="A node has to declare the features of its kubelet that the pod needs.",
        reasons=("node(s) didn't match Pod's required features",),
    ),
    "NodeResourcesBalancedAllocation": SchedulingDoc(
        preference="Nodes on which the pod leaves cpu and memory used to similar shares.",
        arguments=(
            _argument("resources", "list of names", '[{"name": "cpu"}, {"name": "memory"}]', "What is balanced."),
        ),
    ),
    "ImageLocality": SchedulingDoc(preference="Nodes that hold the pod's images already, by size."),
    "DefaultPreemption": SchedulingDoc(
        check=f"Evicts pods of lower priority for one that fits nowhere. {_NO_PART}",
        arguments=(
            _argument("minCandidateNodesPercentage", "integer from 0 to 100", "10", "Without effect here."),
            _argument("minCandidateNodesAbsolute", "integer", "100", "Without effect here."),
        ),
    ),
    "DefaultBinder": SchedulingDoc(check=f"Writes the chosen node to the API server. {_NO_PART}"),
    "PrioritySort": SchedulingDoc(
        check="Puts pods of higher priority first, then those that wait longer. The prediction follows this order."
    ),
    "GangScheduling": SchedulingDoc(
        check="Pods of a pod group wait for each other. Off by default; such pods cannot be judged here."
    ),
    "PodGroupPodsCount": SchedulingDoc(check=f"Scores placements of whole pod groups, off by default. {_NO_PART}"),
    "TopologyPlacementGenerator": SchedulingDoc(
        check=f"Proposes placements of whole pod groups, off by default. {_NO_PART}"
    ),
}
"""kube-scheduler's own plugins by name."""
