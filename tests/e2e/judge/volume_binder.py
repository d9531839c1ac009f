"""Completes the binding of claims that a scheduler has begun, in the place of kube-controller-manager.

The real controller judges what it sees: a claim whose volume reaches it a moment later is marked as lost, and stays so
until its next round a quarter of a minute later. Worlds that are exchanged as a whole would run into that all the time.
"""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event

from tests.e2e.judge.watch import Watch
from tests.e2e.kube_api import ApiError, KubeApi, Object

_ROUND_SECONDS = 1
_MARKS = {f"pv.kubernetes.io/{mark}": "yes" for mark in ("bind-completed", "bound-by-controller")}


class VolumeBinder:
    """Binds, in a thread of its own, each claim to the available volume on which a scheduler has written its name."""

    def __init__(self, api: KubeApi) -> None:
        self._api = api
        self._watch = Watch(api, "/api/v1/persistentvolumes")
        self._stopping = Event()
        self._thread = ThreadPoolExecutor(1)
        self._work: Future[None] = self._thread.submit(self._run)

    def close(self) -> None:
        """Stops within a second or so; raises what went wrong meanwhile."""
        self._stopping.set()
        self._thread.shutdown()
        self._work.result()

    def _run(self) -> None:
        while not self._stopping.is_set():
            for kind, volume in self._watch.changes_within(_ROUND_SECONDS):
                if kind == "MODIFIED" and volume["status"]["phase"] == "Available" and "claimRef" in volume["spec"]:
                    self._bind(volume)

    def _bind(self, volume: Object) -> None:
        reference = volume["spec"]["claimRef"]
        place = {"namespace": reference["namespace"], "name": reference["name"]}
        claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": place}
        name, spec = volume["metadata"]["name"], volume["spec"]
        status = {"phase": "Bound", "accessModes": spec["accessModes"], "capacity": spec["capacity"]}
        try:
            self._api.patch({**volume, "apiVersion": "v1", "kind": "PersistentVolume"}, _PHASE, subresource="status")
            self._api.patch(claim, {"metadata": {"annotations": _MARKS}, "spec": {"volumeName": name}})
            self._api.patch(claim, {"status": status}, subresource="status")
        except ApiError as error:
            if error.status != 404:  # the world may be gone by now
                raise


_PHASE = {"status": {"phase": "Bound"}}
