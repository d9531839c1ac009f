"""A small migration that does all with care: the living cluster and its observer are tried out on it.

Each step is decided from what is in the cluster alone, so a second run goes on where the first was ended.
"""

from __future__ import annotations

import json
from typing import Any

from descheduler.kube.client import KubeClient
from descheduler.transport.errors import ExchangeError
from tests.living.clock import VirtualClock, to_time
from tests.living.store import Object

_KOORD = "/apis/scheduling.koordinator.sh/v1alpha1"
_PATIENCE_SECONDS = 90.0


class _Unclear(Exception):  # noqa: N818 - a state, not a fault
    """What was asked for was done, or not."""


class CarefulMigration:
    """Moves pods one after the other, Reservation first, by `client`, for `seconds` at most each."""

    def __init__(self, client: KubeClient, clock: VirtualClock, *, seconds: float = 600.0) -> None:
        self._client = client
        self._clock = clock
        self._seconds = seconds

    def move(self, pod: Object) -> str:
        """The phase of the job in the end, "" when it is still open."""
        end = self._clock.monotonic() + self._seconds
        while self._clock.monotonic() < end:
            try:
                if phase := self._step(pod):
                    return phase
            except (_Unclear, ExchangeError):
                pass
            self._clock.sleep(1.0)
        return ""

    def is_same(self, found: Object, pod: Object) -> bool:
        """Whether the pod that was found is the one to be moved."""
        return bool(found["metadata"]["uid"] == pod["metadata"]["uid"])

    def evict(self, pod: Object, options: Object) -> None:
        """Asks for the eviction of whatever pod has the name, within `options`."""
        metadata = {key: pod["metadata"][key] for key in ("namespace", "name")}
        head = {"apiVersion": "policy/v1", "kind": "Eviction"}
        self._call("POST", f"{_path(pod)}/eviction", {**head, "metadata": metadata, "deleteOptions": options})

    def release(self, room: str) -> str:
        """Lets go of what is held; the phase of the job once nothing is left to do, "" before."""
        self._call("DELETE", room)
        return ""

    def _step(self, pod: Object) -> str:
        name = f"move-{pod['metadata']['uid']}"
        job = self._get(f"{_KOORD}/podmigrationjobs/{name}")
        if job is None:
            reference = {key: pod["metadata"][key] for key in ("namespace", "name", "uid")}
            self._create("PodMigrationJob", name, {"podRef": reference}, {})
            return ""
        phase = job.get("status", {}).get("phase", "")
        room = self._get(f"{_KOORD}/reservations/{name}")
        is_used = room is not None and room.get("status", {}).get("phase") == "Succeeded"
        if phase:
            if room is not None and not is_used:
                return self.release(f"{_KOORD}/reservations/{name}")
            return str(phase)
        found = self._get(_path(pod))
        if found is not None and self.is_same(found, pod) and "deletionTimestamp" not in found["metadata"]:
            self.lead_away(pod, name, room, job)
        elif is_used and room is not None and self._is_ready(room["status"]["currentOwners"][0]):
            self._end(job, "Succeeded")
        elif self._age(job) > 2 * _PATIENCE_SECONDS:
            self._end(job, "Failed")
        return ""

    def lead_away(self, pod: Object, name: str, room: Object | None, job: Object) -> None:
        """The next step for a pod that is still where it should leave."""
        phase = (room or {}).get("status", {}).get("phase")
        if phase in ("Succeeded", "Failed") or self._age(job) > _PATIENCE_SECONDS:
            self._end(job, "Failed")
        elif room is None:
            owner = {**pod["metadata"]["ownerReferences"][0], "namespace": pod["metadata"]["namespace"]}
            owner.pop("blockOwnerDeletion", None)
            spec = {"template": _template(pod), "owners": [{"controller": owner}], "ttl": "1h", "allocateOnce": True}
            labels = {"descheduler/job": job["metadata"]["uid"]}
            self._create("Reservation", name, spec, labels)
        elif phase == "Available":
            self.evict(pod, {"preconditions": {"uid": pod["metadata"]["uid"]}})

    def _create(self, kind: str, name: str, spec: Object, labels: Object) -> None:
        head = {"apiVersion": "scheduling.koordinator.sh/v1alpha1", "kind": kind}
        metadata = {"name": name, "labels": labels}
        self._call("POST", f"{_KOORD}/{kind.lower()}s", {**head, "metadata": metadata, "spec": spec})

    def _end(self, job: Object, phase: str) -> None:
        path = f"{_KOORD}/podmigrationjobs/{job['metadata']['name']}/status"
        self._call("PUT", path, {**job, "status": {"phase": phase}})

    def _is_ready(self, reference: Object) -> bool:
        path = f"/api/v1/namespaces/{reference['namespace']}/pods/{reference['name']}"
        conditions = (self._get(path) or {}).get("status", {}).get("conditions", ())
        return any(found["type"] == "Ready" and found["status"] == "True" for found in conditions)

    def _age(self, job: Object) -> float:
        return (self._clock.now() - to_time(job["metadata"]["creationTimestamp"])).total_seconds()

    def _get(self, path: str) -> Object | None:
        """The object, None only when the API server itself says that there is none."""
        code, found = self._call("GET", path)
        if code == 404 and found.get("reason") == "NotFound":
            return None
        if code != 200 or found.get("metadata", {}).get("name") != path.rpartition("/")[2] or "spec" not in found:
            raise _Unclear
        return dict(found)

    def _call(self, method: str, path: str, body: Object | None = None) -> tuple[int, Any]:
        answer = self._client.send(method, path, body=None if body is None else json.dumps(body).encode())
        try:
            return answer.status_code, json.loads(answer.body)
        except (ValueError, RecursionError) as error:
            raise _Unclear from error


def _path(pod: Object) -> str:
    return f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}"


def _template(pod: Object) -> Object:
    field = {"key": "metadata.name", "operator": "NotIn", "values": [pod["spec"]["nodeName"]]}
    terms = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    spec = {name: part for name, part in pod["spec"].items() if name != "nodeName"}
    metadata = {"labels": pod["metadata"]["labels"], "namespace": pod["metadata"]["namespace"]}
    return {"metadata": metadata, "spec": {**spec, "affinity": affinity}}
