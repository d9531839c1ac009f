"""Has what holds room be placed on another node than the pod that is to leave."""

from __future__ import annotations

from typing import Any

__all__ = ["keep_away"]

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def keep_away(node: str, spec: dict[str, Any]) -> None:
    """Has the scheduler look for another node than `node` for a pod with this `spec`, which is changed; "" for none.

    Every required term is narrowed; without any there is one more.
    """
    spec.pop("nodeName", None)
    if not node:
        return
    away = {"key": "metadata.name", "operator": "NotIn", "values": [node]}
    affinity = dict(spec.get("affinity") or {})
    node_affinity = dict(affinity.get("nodeAffinity") or {})
    required = dict(node_affinity.get(_REQUIRED) or {})
    stated = required.get("nodeSelectorTerms") or []
    # An empty term of the pod matches no node, and must not come to match all others.
    narrowed = [{**term, "matchFields": [*(term.get("matchFields") or ()), away]} if term else term for term in stated]
    required["nodeSelectorTerms"] = narrowed or [{"matchFields": [away]}]
    spec["affinity"] = {**affinity, "nodeAffinity": {**node_affinity, _REQUIRED: required}}
