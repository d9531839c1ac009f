"""What is left of some nodes while pods are placed there on trial, the first that fits for each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from descheduler.eviction.node_fit.node_fit import NodeFit, NodeSet
from descheduler.model.pod import Pod
from descheduler.model.quantity import ceil_milli, ceil_value
from descheduler.model.requests import CPU, MEMORY, PODS

__all__ = ["TrialRoom"]


class TrialRoom:
    """Room for cpu, memory and pods on `nodes`, as it is now, less what is placed there later.

    With `checks_fit` a pod is only placed on a node that passes Koordinator's node fit as well, which follows the
    moves that are booked meanwhile.
    """

    def __init__(self, node_fit: NodeFit, nodes: NodeSet, *, checks_fit: bool) -> None:
        self._node_fit = node_fit
        self._nodes = nodes
        self._checks_fit = checks_fit
        self._free = np.stack([node_fit.free(name, nodes) for name in (CPU, MEMORY, PODS)])

    def place_all(self, pods: Sequence[Pod]) -> Pod | None:
        """Places each of `pods` on the first node that has room, all or none; the first without a node, else None."""
        before = self._free.copy()
        for pod in pods:
            if not self._place(pod):
                self._free = before
                return pod
        return None

    def _place(self, pod: Pod) -> bool:
        requests = pod.spec.requests
        needs = np.array([[ceil_milli(requests.get(CPU, 0))], [ceil_value(requests.get(MEMORY, 0))], [1]])
        # A node that is overbooked in what the pod does not ask for still takes it.
        asks = np.array([[CPU in requests], [MEMORY in requests], [True]])
        fits = ((self._free >= needs) | ~asks).all(axis=0)
        if self._checks_fit:
            fits &= self._node_fit.has_room(pod, self._nodes)
        if not fits.any():
            return False
        self._free[:, fits.argmax()] -= needs[:, 0]
        return True
