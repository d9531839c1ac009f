"""What the scheduler said about one pod."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from tests.e2e.kube_api import Object

# The reasons of one message are told apart by their leading counts, because a reason may hold a comma of its own.
_REASON = re.compile(r"(\d+) (.+?)(?=, \d+ |\.?\s*$)")
_AVAILABLE = re.compile(r"\b0/(\d+) nodes are (?:un)?available(?:: (.*))?", re.DOTALL)
_REFUSALS = frozenset({"Unschedulable", "SchedulingGated", "SchedulerError"})  # Volcano also says "Schedulable"
_PREEMPTION = re.compile(r"\.? *(?:no new claims to deallocate, *)?preemption: .*$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Ruling:
    """The outcome of one pod; exactly one of `node` and `reason` is set."""

    pod: str
    """`namespace/name`."""
    node: str | None
    reason: str = ""
    """The reason of the pod's `PodScheduled` condition: `Unschedulable`, `SchedulingGated` or `SchedulerError`."""
    message: str = ""
    """The message of that condition."""
    resource_version: str = ""
    """Of the pod when the scheduler had ruled."""
    seconds: float = 0.0
    """From the pod's creation to the ruling."""

    @property
    def node_reasons(self) -> Mapping[str, int]:
        """Reason → number of nodes, as the message lists them; empty when no node was looked at."""
        return node_reasons(self.message)

    @property
    def num_nodes(self) -> int | None:
        """How many nodes the scheduler knew when it refused, or None when the message does not say."""
        found = _AVAILABLE.search(self.message)
        return int(found[1]) if found else None


def node_reasons(message: str) -> dict[str, int]:
    """Reason → number of nodes of a scheduler's `0/N nodes are available: ...` message, preemption's part left out.

    A reason about the pod as a whole comes without a count and is not listed.
    """
    found = _AVAILABLE.search(message)
    if found is None or found[2] is None:
        return {}
    return {reason: int(count) for count, reason in _REASON.findall(_PREEMPTION.sub("", found[2]))}


def read_ruling(pod: Object) -> Ruling | None:
    """The ruling that a stored pod carries, or None while the scheduler has not spoken.

    A nominated node without a refusal counts: since 1.35 the scheduler writes it when it has chosen and only the
    binding of volumes remains, which takes a second (kubernetes pkg/scheduler/schedule_one.go).
    """
    meta, spec, status = pod["metadata"], pod["spec"], pod.get("status", {})
    name = f"{meta['namespace']}/{meta['name']}"
    version = meta.get("resourceVersion", "")
    if spec.get("nodeName"):
        return Ruling(name, spec["nodeName"], resource_version=version)
    for condition in status.get("conditions", []):
        if condition["type"] == "PodScheduled" and condition.get("reason") in _REFUSALS:
            return Ruling(name, None, condition["reason"], condition.get("message", ""), version)
    if status.get("nominatedNodeName"):
        return Ruling(name, status["nominatedNodeName"], resource_version=version)
    return None


def is_bound(pod: Object) -> bool:
    """Whether the pod is on its node for good."""
    return bool(pod["spec"].get("nodeName"))
