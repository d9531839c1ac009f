"""How full the nodes are, as the API server tells it, and the wait until nothing moves any more."""

from __future__ import annotations

import re
import time
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from tests.e2e.kube_api import KubeApi, Object

_RESOURCES = ("cpu", "memory")
_UNITS = {"": 1.0, "m": 1e-3, "Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30}
_QUANTITY = re.compile(r"(\d+)(m|Ki|Mi|Gi|)")
_POLL_SECONDS, _CALM_LOOKS, _SETTLE_SECONDS = 1.5, 3, 120.0


@dataclass(frozen=True, slots=True)
class Sight:
    """The cluster at one moment: its nodes, and the pods that are not on their way out."""

    nodes: tuple[Object, ...]
    pods: tuple[Object, ...]
    num_terminating: int

    @property
    def uids(self) -> frozenset[str]:
        """Those of the pods."""
        return frozenset(pod["metadata"]["uid"] for pod in self.pods)

    @property
    def pending(self) -> frozenset[str]:
        """The uids of pods without a node."""
        return frozenset(pod["metadata"]["uid"] for pod in self.pods if not pod["spec"].get("nodeName"))

    def usage(self) -> Mapping[str, tuple[float, ...]]:
        """Node → what its pods request of it, as shares of its CPU and memory."""
        taken: dict[str, list[float]] = defaultdict(lambda: [0.0] * len(_RESOURCES))
        for pod in self.pods:
            of_node = taken[pod["spec"].get("nodeName", "")]
            for place, resource in enumerate(_RESOURCES):
                of_node[place] += sum(_requested(container, resource) for container in pod["spec"]["containers"])
        return {
            node["metadata"]["name"]: tuple(
                used / _amount(node["status"]["allocatable"][resource])
                for used, resource in zip(taken[node["metadata"]["name"]], _RESOURCES, strict=True)
            )
            for node in self.nodes
        }

    def over(self, percent: float) -> frozenset[str]:
        """The nodes of whose CPU or memory more than `percent` is requested."""
        return frozenset(name for name, shares in self.usage().items() if max(shares) * 100 > percent + 1e-6)


def look(api: KubeApi) -> Sight:
    """The cluster as it is now."""
    pods = api.items("/api/v1/pods")
    staying = tuple(pod for pod in pods if "deletionTimestamp" not in pod["metadata"])
    return Sight(tuple(api.items("/api/v1/nodes")), staying, len(pods) - len(staying))


def wait_settled(api: KubeApi, num_pods: int) -> Sight:
    """The cluster once it has `num_pods` pods, none is on its way out, and for some looks none has found a node.

    Raises TimeoutError where that takes more than two minutes.
    """
    deadline = time.monotonic() + _SETTLE_SECONDS
    seen, calm = look(api), 0
    while calm < (_CALM_LOOKS if seen.pending else 1):
        if time.monotonic() > deadline:
            raise TimeoutError(f"{len(seen.pods)} of {num_pods} pods, {seen.num_terminating} on their way out")
        time.sleep(_POLL_SECONDS)
        before, seen = seen, look(api)
        is_calm = len(seen.pods) == num_pods and not seen.num_terminating and seen.pending == before.pending
        calm = calm + 1 if is_calm else 0
    return seen


def _requested(container: Object, resource: str) -> float:
    return _amount(container["resources"].get("requests", {}).get(resource, "0"))


def _amount(quantity: str) -> float:
    found = _QUANTITY.fullmatch(quantity)
    if found is None:
        raise ValueError(f"quantity {quantity!r} is not one of these tests")
    return int(found[1]) * _UNITS[found[2]]
