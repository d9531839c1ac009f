"""Who may use a Reservation, in words."""

from __future__ import annotations

from descheduler.model.koordinator.reservation import ObjectReference, ReservationOwner
from descheduler.model.pod import Owner
from descheduler.model.selection.labels import LabelSelector
from descheduler.placement.plugins.helper.node_selector_words import requirement_text

__all__ = ["owner_text"]


def owner_text(owner: ReservationOwner) -> str:
    """Such as `pods with app in (ranker)`, or `pods of ReplicaSet shop/web-1`: all that is stated is required."""
    parts = [
        "" if owner.object is None else _object_text(owner.object),
        "" if owner.controller is None else _controller_text(owner.controller, owner.controller_namespace),
        "" if owner.selector is None else _selector_text(owner.selector),
    ]
    return ", and ".join(filter(None, parts)) or "all pods"


def _object_text(stated: ObjectReference) -> str:
    if stated.api_version:
        return f"no pod (object.apiVersion {stated.api_version} matches none)"
    name = "/".join(filter(None, (stated.namespace, stated.name)))
    uid = f"uid {stated.uid}" if stated.uid else ""
    where = f"pods of namespace {stated.namespace}" if stated.namespace and not stated.name else f"pod {name}".strip()
    return " with ".join(filter(None, (where, uid))) if name or uid else "all pods"


def _controller_text(stated: Owner, namespace: str) -> str:
    name = "/".join(filter(None, (namespace, stated.name)))
    lead = "pods controlled by" if stated.controller else "pods of"
    uid = f"with uid {stated.uid}" if stated.uid else ""
    return " ".join(filter(None, (lead, stated.kind or "owner", name, uid)))


def _selector_text(selector: LabelSelector) -> str:
    if selector.nothing:
        return "no pod (the labelSelector cannot be read)"
    if selector.is_empty:
        return "all pods"
    return f"pods with {' and '.join(map(requirement_text, selector.requirements))}"
