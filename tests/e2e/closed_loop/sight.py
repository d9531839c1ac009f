"""What is seen of a cluster at one moment, and the wait until nothing moves in it any more."""

from __future__ import annotations

import time
from dataclasses import dataclass

from tests.e2e.kube_api import KubeApi, Object, is_ready

_POLL_SECONDS = 0.1
_CALM_SECONDS = 0.2
_WAITING_SECONDS = 3.0
"""A pod that found no node while a victim was terminating is tried again after one or two seconds."""
_SETTLE_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Sight:
    """The pods, and how many replicas all deployments and stateful sets together want."""

    pods: tuple[Object, ...]
    num_wanted: int

    @property
    def versions(self) -> frozenset[str]:
        """Differs when any pod has come, changed or gone."""
        return frozenset(f"{pod['metadata']['uid']}/{pod['metadata']['resourceVersion']}" for pod in self.pods)

    @property
    def has_terminating(self) -> bool:
        """Whether some pod is on its way out."""
        return any("deletionTimestamp" in pod["metadata"] for pod in self.pods)

    @property
    def is_complete(self) -> bool:
        """Whether every replica is there and every pod is ready."""
        return not self.num_missing and all(map(is_ready, self.pods))

    @property
    def num_missing(self) -> int:
        """Replicas that were not created."""
        return self.num_wanted - sum(_is_replica(pod) for pod in self.pods)

    @property
    def num_unbound(self) -> int:
        """Pods without a node."""
        return sum(not pod["spec"].get("nodeName") for pod in self.pods)


def look(api: KubeApi) -> Sight:
    """The cluster as it is now, without namespaces that are being deleted."""
    active = {
        each["metadata"]["name"] for each in api.items("/api/v1/namespaces") if each["status"]["phase"] == "Active"
    }
    workloads = [*api.items("/apis/apps/v1/deployments"), *api.items("/apis/apps/v1/statefulsets")]
    num_wanted = sum(each["spec"]["replicas"] for each in workloads if each["metadata"]["namespace"] in active)
    pods = tuple(pod for pod in api.items("/api/v1/pods") if pod["metadata"]["namespace"] in active)
    return Sight(pods, num_wanted)


def wait_settled(api: KubeApi) -> Sight:
    """The cluster once no pod is terminating and nothing changes, for longer where replicas wait for something.

    Raises TimeoutError when it does not come to rest.
    """
    deadline = time.monotonic() + _SETTLE_SECONDS
    seen, since = look(api), time.monotonic()
    while True:
        calm_seconds = _CALM_SECONDS if seen.is_complete else _WAITING_SECONDS
        if not seen.has_terminating and time.monotonic() - since >= calm_seconds:
            return seen
        if time.monotonic() > deadline:
            raise TimeoutError(f"pods still come and go after {_SETTLE_SECONDS:g} s")
        time.sleep(_POLL_SECONDS)
        latest = look(api)
        if latest.versions != seen.versions:
            since = time.monotonic()
        seen = latest


def _is_replica(pod: Object) -> bool:
    return any(owner.get("controller") for owner in pod["metadata"].get("ownerReferences", []))
