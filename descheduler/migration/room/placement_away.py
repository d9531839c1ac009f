"""Has what holds room be placed where the replacement may go, and on another node than the pod that is to leave.

Where a node was chosen for it, it is placed on that one or nowhere. A required term with that name also has
kube-scheduler look at no other node, so that none is missed in clusters of which it looks at a part.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from descheduler.migration.room.provider import CannotHold
from descheduler.model.koordinator.eviction_annotations import TARGET_NODE_ANNOTATION
from descheduler.model.names import is_subdomain
from descheduler.model.text.printable import clipped

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_MOST_SHOWN = 63


def keep_away(node: str, spec: dict[str, Any]) -> None:
    """Has the scheduler look for another node than `node` for a pod with this `spec`, which is changed; "" for none."""
    spec.pop("nodeName", None)
    if node:
        narrow(spec, [_named("NotIn", node)])


def keep_on(node: str, spec: dict[str, Any]) -> None:
    """Has the scheduler take `node` or none for a pod with this `spec`, which is changed; "" leaves the choice to it.

    Raises CannotHold for what no node can be called: the API server checks no Reservation for that.
    """
    if not node:
        return
    if not is_subdomain(node):
        shown = clipped(node, _MOST_SHOWN)
        raise CannotHold(f"annotation {TARGET_NODE_ANNOTATION} of the job is not the name of a node: '{shown}'")
    narrow(spec, [_named("In", node)])


def _named(operator: str, node: str) -> dict[str, Any]:
    return {"matchFields": [{"key": "metadata.name", "operator": operator, "values": [node]}]}


def narrow(spec: dict[str, Any], terms: Sequence[Mapping[str, Any]]) -> None:
    """Has the scheduler look for a node that one of these node selector terms matches too; `spec` is changed.

    Every required term of the pod is narrowed by each of them; a pod without any gets them.
    """
    affinity = dict(spec.get("affinity") or {})
    node_affinity = dict(affinity.get("nodeAffinity") or {})
    required = dict(node_affinity.get(_REQUIRED) or {})
    stated = required.get("nodeSelectorTerms") or []
    # An empty term of the pod matches no node, and must not come to match any.
    narrowed = [_both(own, term) for own in stated for term in terms if own]
    required["nodeSelectorTerms"] = narrowed or [dict(term) for term in stated or terms]
    spec["affinity"] = {**affinity, "nodeAffinity": {**node_affinity, _REQUIRED: required}}


def _both(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """The term that matches the nodes that both match."""
    joined = {
        field: [*(one.get(field) or ()), *(other.get(field) or ())] for field in ("matchExpressions", "matchFields")
    }
    return {field: requirements for field, requirements in joined.items() if requirements}
