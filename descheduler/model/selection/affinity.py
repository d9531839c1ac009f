"""Node selectors, node affinity, inter-pod affinity and topology spread as pods state them.

Matching a node mirrors `k8s.io/component-helpers/scheduling/corev1/nodeaffinity` (0.36): a term with a syntax error
never matches, and the error shows only when no other term does.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

import msgspec

from descheduler.model.selection.labels import NOTHING, LabelSelector, Requirement


class NodeMatch(Enum):
    """How a pod's node selector and required node affinity answer for one node."""

    MATCHES = "matches"
    DIFFERS = "differs"
    ERROR = "error"


class NodeSelectorTerm(msgspec.Struct, frozen=True, gc=False):
    """One alternative of a node affinity.

    `error` holds what is wrong with its syntax, one line a fault, each with its place within the term; else it is
    empty. With an error only the well-formed conditions are kept, and the term matches no node.
    """

    expressions: tuple[Requirement, ...] = ()
    fields: tuple[Requirement, ...] = ()
    error: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether the term names no condition at all; such a term matches no node."""
        return not self.expressions and not self.fields and not self.error

    def matches(self, name: str, labels: Mapping[str, str]) -> bool:
        """Whether a node of this name and these labels meets every condition of a well-formed term."""
        for requirement in self.expressions:
            if not requirement.matches(labels):
                return False
        return all(requirement.matches({"metadata.name": name}) for requirement in self.fields)


class PreferredNodeTerm(msgspec.Struct, frozen=True, gc=False):
    """A node preference and its weight (1-100)."""

    weight: int
    term: NodeSelectorTerm


class PodAffinityTerm(msgspec.Struct, frozen=True, gc=False):
    """One term of inter-pod affinity. `error` holds what is wrong with its selector, else it is empty."""

    topology_key: str
    selector: LabelSelector = NOTHING
    namespaces: frozenset[str] = frozenset()
    namespace_selector: LabelSelector | None = None
    match_label_keys: tuple[str, ...] = ()
    mismatch_label_keys: tuple[str, ...] = ()
    error: str = ""


class WeightedPodAffinityTerm(msgspec.Struct, frozen=True, gc=False):
    """A preferred term of inter-pod affinity and its weight (1-100)."""

    weight: int
    term: PodAffinityTerm


class Affinity(msgspec.Struct, frozen=True, gc=False):
    """`spec.affinity`, decoded. `node_required` is None when no required node affinity is set."""

    has_node_affinity: bool = False
    node_required: tuple[NodeSelectorTerm, ...] | None = None
    node_preferred: tuple[PreferredNodeTerm, ...] = ()
    pod_required: tuple[PodAffinityTerm, ...] = ()
    pod_preferred: tuple[WeightedPodAffinityTerm, ...] = ()
    anti_required: tuple[PodAffinityTerm, ...] = ()
    anti_preferred: tuple[WeightedPodAffinityTerm, ...] = ()


class TopologySpreadConstraint(msgspec.Struct, frozen=True, gc=False):
    """One entry of `spec.topologySpreadConstraints`. An absent selector selects nothing; `error` as in the terms."""

    max_skew: int
    topology_key: str
    when_unsatisfiable: str
    selector: LabelSelector = NOTHING
    match_label_keys: tuple[str, ...] = ()
    node_affinity_policy: str = "Honor"
    node_taints_policy: str = "Ignore"
    min_domains: int | None = None
    error: str = ""


def match_node(
    node_selector: Mapping[str, str], affinity: Affinity | None, name: str, labels: Mapping[str, str]
) -> NodeMatch:
    """How `nodeSelector` and the required node affinity answer for the node of this name and these labels."""
    for key, value in node_selector.items():
        if labels.get(key) != value:
            return NodeMatch.DIFFERS
    if affinity is None or affinity.node_required is None:
        return NodeMatch.MATCHES
    failed = False
    for term in affinity.node_required:
        if term.error:
            failed = True
        elif not term.is_empty and term.matches(name, labels):
            return NodeMatch.MATCHES
    return NodeMatch.ERROR if failed else NodeMatch.DIFFERS


def syntax_faults(affinity: Affinity | None) -> str:
    """What is wrong with the required node terms, as Kubernetes words it: one fault as it is, several in brackets."""
    terms = affinity.node_required if affinity is not None else None
    faults = [
        f"nodeSelectorTerms[{index}].{fault}"
        for index, term in enumerate(terms or ())
        for fault in term.error.splitlines()
    ]
    return f"[{', '.join(dict.fromkeys(faults))}]" if len(faults) > 1 else "".join(faults)


def preferred_weight(affinity: Affinity | None, name: str, labels: Mapping[str, str]) -> int:
    """Sum of the weights of the preferred node terms that match; empty and malformed terms count nothing."""
    if affinity is None:
        return 0
    return sum(
        preferred.weight
        for preferred in affinity.node_preferred
        if not preferred.term.error and not preferred.term.is_empty and preferred.term.matches(name, labels)
    )
