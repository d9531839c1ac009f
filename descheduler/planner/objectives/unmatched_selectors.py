"""Selectors of an objective that no node matches, which a wrong label can be the cause of."""

from __future__ import annotations

from collections.abc import Sequence

from descheduler.model.node import Node
from descheduler.model.text.counted import counted
from descheduler.placement.plugins.helper.node_selector_words import requirement_text
from descheduler.policy.shared_args import LabelSelectorArg, compile_selector

__all__ = ["unmatched_text"]


def unmatched_text(key: str, stated: LabelSelectorArg | None, nodes: Sequence[Node]) -> str:
    """Such as `nodeSelector (pool in (old)): 0 of 5 nodes match`; empty where some node matches, or none is stated."""
    selector = compile_selector(stated)
    if selector is None or any(selector.matches(node.labels) for node in nodes):
        return ""
    text = " and ".join(map(requirement_text, selector.requirements))
    return f"{key} ({text}): 0 of {counted(len(nodes), 'node')} match"
