"""Node fit as evictors use it: a pod may go only if some other ready node could take it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from descheduler.eviction.default_evictor.protections import Check
from descheduler.eviction.handle import Handle
from descheduler.model.pod import Pod
from descheduler.model.selection.labels import LabelError, parse_selector
from descheduler.model.verdict import Reason, Verdict, refuse

if TYPE_CHECKING:  # numpy takes longer to import than validating a policy may
    from descheduler.eviction.node_fit import NodeSet

__all__ = ["make_other_node_check"]


def make_other_node_check(handle: Handle, node_selector: str, fits: Callable[[Pod, NodeSet], bool]) -> Check:
    """Refuses pods for which `fits` finds none among the ready nodes that `node_selector` selects.

    A selector that cannot be read refuses every pod; policies with such a selector load.
    """
    try:
        nodes = handle.view.ready_nodes(parse_selector(node_selector))
    except LabelError as error:
        unreadable = refuse(Reason.NO_NODE_FITS, f"nodeSelector is not valid: {error}")
        return lambda _: unreadable
    scope = f"ready nodes with {node_selector}" if node_selector else "ready nodes"
    refusal = refuse(Reason.NO_NODE_FITS, f"the pod does not fit on any of the other {scope} (nodeFit: true)")
    node_set: NodeSet | None = None

    def check(pod: Pod) -> Verdict | None:
        nonlocal node_set
        if node_set is None:
            node_set = handle.node_fit.node_set(nodes)
        return None if fits(pod, node_set) else refusal

    return check
