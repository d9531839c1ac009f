"""Node selectors in words: what of them a node does not meet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from descheduler.model.node import Node
from descheduler.model.selection.affinity import NodeSelectorTerm
from descheduler.model.selection.labels import Requirement


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
        parts = [f"{requirement_text(r)}, {label_found(node.labels, r.key)}" for r in missed]
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


def label_found(labels: Mapping[str, str], key: str) -> str:
    """What a node has at a label key, as part of a sentence."""
    value = labels.get(key)
    return "the node has no such label" if value is None else f"the node has {value or 'the empty value'}"
