"""NodeUnschedulable, NodeName, TaintToleration, NodeAffinity and NodeDeclaredFeatures: what of a node is in the way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from descheduler.explanation.details.site import Site
from descheduler.model.affinity import NodeSelectorTerm
from descheduler.model.labels import Requirement
from descheduler.model.node import Node
from descheduler.model.taints import Taint, Tolerance
from descheduler.placement.framework.extension_points import Obstacle
from descheduler.placement.shadow.node_masks import hard_taints
from descheduler.placement.shadow.tolerations import honoured_tolerations

__all__ = [
    "explain_cordon",
    "explain_declared_features",
    "explain_node_affinity",
    "explain_node_name",
    "explain_taints",
    "requirement_text",
    "taint_text",
    "unmet",
]


def explain_cordon(site: Site, obstacle: Obstacle) -> Iterator[str]:
    """That the node is cordoned."""
    del obstacle
    yield f"is cordoned; kubectl uncordon {site.node.name} takes that back"


def explain_node_name(site: Site, obstacle: Obstacle) -> Iterator[str]:
    """Which node the pod names."""
    del obstacle
    yield f"the pod names the node {site.pod.node_name}"


def explain_taints(site: Site, obstacle: Obstacle) -> Iterator[str]:
    """The taints that are not tolerated."""
    del obstacle
    tolerance = Tolerance(honoured_tolerations(site.pod.spec.tolerations, site.cycle.cluster.version))
    for taint in hard_taints(site.node):
        if not tolerance.tolerates(taint):
            yield f"the taint {taint_text(taint)} is not tolerated"


def explain_node_affinity(site: Site, obstacle: Obstacle) -> Iterator[str]:
    """The labels that are missing or differ; of several alternative terms each one."""
    del obstacle
    spec, node = site.pod.spec, site.node
    for key, wanted in sorted(spec.node_selector.items()):
        if node.labels.get(key) != wanted:
            yield f"nodeSelector asks for {key}={wanted}, {_found(node.labels, key)}"
    if spec.affinity is not None and spec.affinity.node_required is not None:
        yield from _unmet_terms("the affinity", spec.affinity.node_required, node)
    added = site.profile.args.node_affinity.added_affinity
    if added is not None and added.node_required is not None:
        yield from _unmet_terms("the affinity that the scheduler adds", added.node_required, node)


def explain_declared_features(site: Site, obstacle: Obstacle) -> Iterator[str]:
    """The features that the pod needs and the node does not declare."""
    del obstacle
    lacking = site.pod.spec.required_features - site.node.declared_features
    yield f"the node does not declare {', '.join(sorted(lacking))}"


def unmet(terms: Iterable[NodeSelectorTerm], node: Node) -> Iterator[str]:
    """For each term what `node` does not meet of it; nothing when it meets any of them."""
    faults = []
    for term in terms:
        if term.error:
            faults.append(f"a term that cannot be read ({term.error})")
            continue
        if term.is_empty:
            faults.append("a term without conditions, which no node meets")
            continue
        missed = [r for r in term.expressions if not r.matches(node.labels)]
        if not missed and term.matches(node.name, node.labels):
            return
        named = [r for r in term.fields if not r.matches({"metadata.name": node.name})]
        parts = [f"{requirement_text(r)}, {_found(node.labels, r.key)}" for r in missed]
        faults.append("; ".join([*parts, *(f"{requirement_text(r)}" for r in named)]))
    yield from faults


def requirement_text(requirement: Requirement) -> str:
    """Such as `zone in (a, b)`."""
    values = f"({', '.join(sorted(requirement.values))})"
    match requirement.operator:
        case "In":
            return f"{requirement.key} in {values}"
        case "NotIn":
            return f"{requirement.key} not in {values}"
        case "Exists":
            return f"the label {requirement.key}"
        case "DoesNotExist":
            return f"no label {requirement.key}"
        case operator:
            return f"{requirement.key} {'above' if operator == 'Gt' else 'below'} {', '.join(requirement.values)}"


def taint_text(taint: Taint) -> str:
    """`key=value:Effect`, as kubectl writes it."""
    return f"{taint.key}={taint.value}:{taint.effect}" if taint.value else f"{taint.key}:{taint.effect}"


def _unmet_terms(whose: str, terms: Iterable[NodeSelectorTerm], node: Node) -> Iterator[str]:
    faults = list(unmet(terms, node))
    yield from (f"{whose} asks for {fault}" if index == 0 else f"or for {fault}" for index, fault in enumerate(faults))


def _found(labels: Mapping[str, str], key: str) -> str:
    value = labels.get(key)
    return "the node has no such label" if value is None else f"the node has {value or 'the empty value'}"
