"""Which taints of a node are not tolerated."""

from __future__ import annotations

from collections.abc import Iterator

from descheduler.model.selection.taints import Taint, Tolerance
from descheduler.placement.framework.obstacle import Obstacle
from descheduler.placement.framework.refused_node import RefusedNode
from descheduler.placement.shadow.node_masks import hard_taints
from descheduler.placement.shadow.tolerations import honoured_tolerations

__all__ = ["explain_taints", "taint_text"]


def explain_taints(refused: RefusedNode, obstacle: Obstacle) -> Iterator[str]:
    """The taints that are not tolerated."""
    del obstacle
    tolerance = Tolerance(honoured_tolerations(refused.pod.spec.tolerations, refused.cycle.cluster.version))
    for taint in hard_taints(refused.node):
        if not tolerance.tolerates(taint):
            yield f"untolerated taint {taint_text(taint)}"


def taint_text(taint: Taint) -> str:
    """`key=value:Effect`, as kubectl writes it."""
    return f"{taint.key}={taint.value}:{taint.effect}" if taint.value else f"{taint.key}:{taint.effect}"
