"""The kubelets of all nodes: bound pods start, deleted pods stop."""

from __future__ import annotations

from tests.living.api.evictions import is_ready
from tests.living.resources import by_plural
from tests.living.store import Change, Object, Store

READY_SECONDS = "living/ready-seconds"
"""Annotation of a pod: how long it takes from its node to Ready."""
STOP_SECONDS = "living/stop-seconds"
"""Annotation of a pod: how long it takes to stop, at most its grace period."""
NEVER_READY = "never"
"""Value of READY_SECONDS: the pod runs, and stays unready."""


class Kubelets:
    """`ready_seconds` and `stop_seconds` hold for pods whose annotations say nothing else."""

    name = "kubelet"

    def __init__(self, store: Store, *, ready_seconds: float = 2.0, stop_seconds: float = 1.0) -> None:
        self.store = store
        self.ready_seconds = ready_seconds
        self.stop_seconds = stop_seconds
        self._known: set[tuple[str, str]] = set()
        store.listeners.append(self.hear)
        for pod in store.all("pods"):
            self._look(pod)

    def hear(self, change: Change) -> None:
        """Takes note of pods that were bound or deleted."""
        if change.resource.kind == "Pod" and change.after is not None:
            self._look(change.after)

    def _look(self, pod: Object) -> None:
        metadata, uid = pod["metadata"], pod["metadata"]["uid"]
        if not pod["spec"].get("nodeName"):
            return
        if "deletionTimestamp" in metadata and self._is_new(uid, "stop"):
            grace = metadata.get("deletionGracePeriodSeconds", 30)
            seconds = min(float(self._noted(pod, STOP_SECONDS) or self.stop_seconds), grace)
            self.store.clock.after(seconds, lambda: self._stop(pod))
        elif not is_ready(pod) and pod["status"].get("phase") == "Pending" and self._is_new(uid, "start"):
            noted = self._noted(pod, READY_SECONDS)
            seconds = self.ready_seconds if noted in ("", NEVER_READY) else float(noted)
            self.store.clock.after(seconds, lambda: self._start(pod, becomes_ready=noted != NEVER_READY))

    def _is_new(self, uid: str, what: str) -> bool:
        is_new = (uid, what) not in self._known
        self._known.add((uid, what))
        return is_new

    def _noted(self, pod: Object, annotation: str) -> str:
        return str((pod["metadata"].get("annotations") or {}).get(annotation, ""))

    def _same(self, pod: Object) -> Object | None:
        metadata = pod["metadata"]
        found = self.store.get("pods", metadata["name"], metadata["namespace"])
        return found if found is not None and found["metadata"]["uid"] == metadata["uid"] else None

    def _stop(self, pod: Object) -> None:
        if (found := self._same(pod)) is not None:
            with self.store.acting(self.name):
                self.store.remove(by_plural("pods"), (found["metadata"]["namespace"], found["metadata"]["name"]))

    def _start(self, pod: Object, *, becomes_ready: bool) -> None:
        found = self._same(pod)
        if found is None or "deletionTimestamp" in found["metadata"]:
            return
        at = self.store.clock.text()
        value = "True" if becomes_ready else "False"
        kept = [known for known in found["status"].get("conditions", ()) if known["type"] == "PodScheduled"]
        states = [
            {"name": container["name"], "ready": becomes_ready, "restartCount": 0, "state": {"running": {}}}
            for container in found["spec"]["containers"]
        ]
        new = [{"type": kind, "status": value, "lastTransitionTime": at} for kind in ("Ready", "ContainersReady")]
        status = {"phase": "Running", "startTime": at, "conditions": kept + new, "containerStatuses": states}
        with self.store.acting(self.name):
            self.store.replace(by_plural("pods"), {**found, "status": {**found["status"], **status}})
