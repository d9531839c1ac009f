"""Label selectors of a policy that match no node, as a misspelt one does."""

from __future__ import annotations

from collections.abc import Sequence

from descheduler.model.node import Node
from descheduler.model.text.counted import counted
from descheduler.placement.plugins.helper.node_selector_words import requirement_text
from descheduler.policy.shared_args import LabelSelectorArg, compile_selector


def unmatched_selector(
    key: str, stated: LabelSelectorArg | None, nodes: Sequence[Node], *, knows_labels: bool = False
) -> str:
    """Such as `protectedNodes (pool in (old)): 0 of 5 nodes match`; empty if a node matches, or nothing is `stated`.

    With `knows_labels` empty, too, if no node has one of the labels. That is usual for nodes to be protected: policies
    name those of the control plane, of which managed clusters list none.
    """
    selector = compile_selector(stated)
    if selector is None or any(selector.matches(node.labels) for node in nodes):
        return ""
    known = {label for node in nodes for label in node.labels}
    if knows_labels and not all(requirement.key in known for requirement in selector.requirements):
        return ""
    text = " and ".join(map(requirement_text, selector.requirements))
    return f"{key} ({text}): 0 of {counted(len(nodes), 'node')} match"
