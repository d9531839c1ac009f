"""A scheduler that finds a node for what holds room, and has replacements take the room that is held for them."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from typing import Any

from tests.faults.objects import Object
from tests.faults.rooms.kinds import ALLOCATED, PODS, PRIORITY_CLASS, RESERVATIONS
from tests.faults.state import ClusterState
from tests.faults.timers import Timers

_STEP_SECONDS = 0.05
"""From one thing that it does about an object to the next."""
_LUCKY_SHARE = 0.85


class RoomScheduler:
    """Places pods and Reservations on `nodes`. What becomes of one depends on the seed and its name alone.

    Unless it `is_lucky`, some rooms get no node, and some replacements go elsewhere than to the room that is held for
    them.
    """

    def __init__(
        self, state: ClusterState, timers: Timers, nodes: Sequence[str], seed: int, *, is_lucky: bool = False
    ) -> None:
        self._state = state
        self._store = state.store
        self._timers = timers
        self._nodes = nodes
        self._seed = seed
        self._share = 1.0 if is_lucky else _LUCKY_SHARE

    def hold(self, path: str, item: Object) -> None:
        """Somebody has created an object."""
        if path in (PODS, RESERVATIONS):
            uid, place = item["metadata"]["uid"], self._place_pod if path == PODS else self._place_reservation
            self._soon(lambda: place(uid))

    def replace(self, pod: Object) -> None:
        """A pod has come in place of another."""
        uid = pod["metadata"]["uid"]
        self._soon(lambda: self._bind_replacement(uid))

    def _soon(self, act: Any) -> None:
        self._timers.after(_STEP_SECONDS, lambda _: act(), is_fact=False)

    def _place_pod(self, uid: str) -> None:
        with self._store.lock:
            found = self._store.get(PODS, uid)
            if found is not None and (node := self._node_for(found["metadata"]["name"], found["spec"])):
                self._run(found, node)
            elif found is not None:
                condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
                self._store.put(PODS, found | {"status": {"phase": "Pending", "conditions": [condition]}})

    def _place_reservation(self, uid: str) -> None:
        with self._store.lock:
            found = self._store.get(RESERVATIONS, uid)
            if found is None:
                return
            template = found["spec"].get("template")
            spec = (template.get("spec") or {}) if isinstance(template, dict) else {}
            status: Object = {"conditions": [_condition("Scheduled", "False", "Unschedulable")], "phase": "Pending"}
            if node := self._node_for(found["metadata"]["name"], spec):
                told = [_condition("Scheduled", "True", "Scheduled"), _condition("Ready", "True", "Available")]
                status = {"nodeName": node, "phase": "Available", "conditions": told}
            self._store.put(RESERVATIONS, found | {"status": status})

    def _node_for(self, name: str, spec: Object) -> str:
        """A node that the required terms allow, "" where luck or the terms find none."""
        draw = random.Random(f"{self._seed}/{name}")
        allowed = [node for node in self._nodes if _allows(spec, node)]
        return draw.choice(allowed) if allowed and draw.random() < self._share else ""

    def _bind_replacement(self, uid: str) -> None:
        with self._store.lock:
            pod = self._store.get(PODS, uid)
            if pod is None or pod["spec"].get("nodeName"):
                return
            draw = random.Random(f"{self._seed}/{pod['metadata']['name']}/{uid}")
            if draw.random() >= self._share or not (self._use_reservation(pod) or self._preempt(pod)):
                self._run(pod, draw.choice(list(self._nodes)))

    def _use_reservation(self, pod: Object) -> bool:
        """Whether a Reservation for the pods of its owner was there, and is used now."""
        metadata = pod["metadata"]
        owners = {reference["uid"] for reference in metadata.get("ownerReferences") or ()}
        for held in self._store.items(RESERVATIONS):
            status = held.get("status") or {}
            if status.get("phase") != "Available" or not owners & _owners_of(held):
                continue
            user = {"namespace": metadata["namespace"], "name": metadata["name"], "uid": metadata["uid"]}
            used = status | {"phase": "Succeeded", "currentOwners": [user]}
            self._store.put(RESERVATIONS, held | {"status": used})
            name = {"name": held["metadata"]["name"], "uid": held["metadata"]["uid"]}
            noted = (metadata.get("annotations") or {}) | {ALLOCATED: json.dumps(name)}
            self._run(pod | {"metadata": metadata | {"annotations": noted}}, status["nodeName"])
            return True
        return False

    def _preempt(self, pod: Object) -> bool:
        """Whether a placeholder had a node, and has made way."""
        for held in self._store.items(PODS):
            spec = held["spec"]
            if spec.get("priorityClassName") == PRIORITY_CLASS and spec.get("nodeName"):
                self._store.remove(PODS, held["metadata"]["uid"])
                self._run(pod, spec["nodeName"])
                return True
        return False

    def _run(self, pod: Object, node: str) -> None:
        """The pod is bound, and ready at once."""
        conditions = [{"type": kind, "status": "True"} for kind in ("PodScheduled", "Ready", "ContainersReady")]
        status = {"phase": "Running", "conditions": conditions}
        self._store.put(PODS, pod | {"spec": pod["spec"] | {"nodeName": node}, "status": status})


def _allows(spec: Object, node: str) -> bool:
    """Whether the first required term names the node, or another field than its name."""
    required = ((spec.get("affinity") or {}).get("nodeAffinity") or {}).get(
        "requiredDuringSchedulingIgnoredDuringExecution"
    ) or {}
    for term in (required.get("nodeSelectorTerms") or ())[:1]:
        for field in term.get("matchFields") or ():
            if (node in field["values"]) != (field["operator"] == "In"):
                return False
    return True


def _owners_of(held: Object) -> set[str]:
    owners = held["spec"].get("owners")
    listed = owners if isinstance(owners, list) else []
    return {str((owner.get("controller") or {}).get("uid", "")) for owner in listed if isinstance(owner, dict)}


def _condition(kind: str, status: str, reason: str) -> Object:
    return {"type": kind, "status": status, "reason": reason}
