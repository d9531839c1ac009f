"""Pods whose requests no other node could hold even when empty: to move them for balance leads nowhere, in any run.

A look at the sizes of nodes answers that at once, so nothing about it has to be remembered and no landing is looked up.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property

from descheduler.cluster.snapshot import Snapshot
from descheduler.eviction.migration_controller.profiles import history_args
from descheduler.eviction.request_check import PodByPod
from descheduler.model.pod import Pod
from descheduler.model.requests import CPU, EPHEMERAL_STORAGE, MEMORY
from descheduler.model.verdict import ACCEPTED, Reason, Verdict, refuse
from descheduler.plan.bundles import Bundle, Candidate
from descheduler.policy.types import Profile

_RESOURCES = (CPU, MEMORY, EPHEMERAL_STORAGE)
"""What every node lists. Others, such as the GPUs of Koordinator, can be there without being allocatable."""
_Shape = tuple[int, ...]


class TooLargeCheck(PodByPod):
    """Refuses them to plugins that balance nodes (`refuseTooLarge`); others may evict a pod that comes back."""

    def __init__(self, profiles: Sequence[Profile], snapshot: Snapshot) -> None:
        args = (history_args(profile) for profile in profiles)
        self._balancing = [
            frozenset(profile.balance if each is not None and each.refuse_too_large else ())
            for profile, each in zip(profiles, args, strict=True)
        ]
        self._snapshot = snapshot

    def may_go(self, candidate: Candidate, bundle: Bundle) -> Verdict:
        """Whether some other node is large enough."""
        if not self._balancing or bundle.plugin not in self._balancing[bundle.profile_index]:
            return ACCEPTED
        pod = candidate.pod
        if any(self._is_elsewhere(shape, pod) for shape in self._nodes if _holds(shape, pod)):
            return ACCEPTED
        named = ", ".join(name for name in _RESOURCES if pod.spec.requests.get(name, 0))
        message = f"the requests of the pod ({named}) exceed what any other node can allocate (refuseTooLarge: true)"
        return refuse(Reason.TOO_LARGE, message, pod.key)

    def _is_elsewhere(self, shape: _Shape, pod: Pod) -> bool:
        return any(name != pod.node_name for name in self._nodes[shape][:2])

    @cached_property
    def _nodes(self) -> dict[_Shape, list[str]]:
        """The nodes by what they can allocate; a cluster has few shapes."""
        nodes: dict[_Shape, list[str]] = defaultdict(list)
        for node in self._snapshot.nodes:
            nodes[tuple(node.for_pods.get(name, 0) for name in _RESOURCES)].append(node.name)
        return nodes


def _holds(shape: _Shape, pod: Pod) -> bool:
    requests = pod.spec.requests
    return all(requests.get(name, 0) <= size for name, size in zip(_RESOURCES, shape, strict=True))
