"""Has what holds room be placed where the replacement may go, and on another node than the pod that is to leave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["keep_away", "narrow"]

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def keep_away(node: str, spec: dict[str, Any]) -> None:
    """Has the scheduler look for another node than `node` for a pod with this `spec`, which is changed; "" for none."""
    spec.pop("nodeName", None)
    if node:
        away = {"key": "metadata.name", "operator": "NotIn", "values": [node]}
        narrow(spec, [{"matchFields": [away]}])


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
