"""Recorded scripts of one PodMigrationJob each (`koordinator-migration`, class `phases`), played in a living cluster.

script = RecordedScript(case)
... a migration controller works on `script.cluster` until `script.is_over` ...
script.sequence        # to be compared with case["expect"]["sequence"]
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from functools import partial
from typing import Any

from tests.living.acting.workloads import controller_of
from tests.living.api.request import Target
from tests.living.api.writes import create, delete_pod
from tests.living.clock import VirtualClock, to_time
from tests.living.cluster import LivingCluster
from tests.living.resources import by_plural
from tests.living.store import Change, Object, copied

_JOBS = "podmigrationjobs.scheduling.koordinator.sh"
_RESERVATIONS = "reservations.scheduling.koordinator.sh"
_SETTLE_SECONDS = 60
_ENDED = ("Succeeded", "Failed", "Aborted")


class RecordedScript:
    """A cluster as it was recorded, into which a user creates the job; the steps of the script follow by its clock.

    No scheduler but koord-scheduler ran there. `options` are those of `LivingCluster`.
    """

    def __init__(self, case: Mapping[str, Any], **options: Any) -> None:
        born = max(to_time(pod["metadata"]["creationTimestamp"]) for pod in case["pods"])
        clock = VirtualClock(start=born + timedelta(seconds=_SETTLE_SECONDS))
        self.cluster = LivingCluster(recorded_objects(case), clock=clock, has_default_scheduler=False, **options)
        self.sequence: list[dict[str, str]] = []
        """The different phases, statuses and reasons of the job so far."""
        self.last_job: Object = {}
        """The job as it is, or was last."""
        self.is_deleted = False
        self._case = case
        self._store = self.cluster.store
        self._store.listeners.append(self._see)
        clock.sleep(1.0)
        with self._store.acting("user"):
            job = create(self._store, Target(by_plural(_JOBS)), {**copied(case["job"]), "status": {}})
        self._name, self._uid = job["metadata"]["name"], job["metadata"]["uid"]
        for step in case["steps"]:
            clock.after(step["at"], partial(self._play, step))

    @property
    def job(self) -> Object | None:
        """The job as it is, None when it was deleted."""
        return self.cluster.get(_JOBS, self._name)

    @property
    def reservation(self) -> Object | None:
        """The Reservation that the job names, or that is named after it."""
        options = (self.last_job.get("spec") or {}).get("reservationOptions") or {}
        name = (options.get("reservationRef") or {}).get("name") or self._uid
        return self.cluster.get(_RESERVATIONS, name)

    @property
    def is_over(self) -> bool:
        """Whether the job has ended or was deleted."""
        return self.job is None or (self.job.get("status") or {}).get("phase") in _ENDED

    def _see(self, change: Change) -> None:
        if change.resource.kind != "PodMigrationJob":
            return
        self.is_deleted = change.after is None
        self.last_job = copied(change.present)
        status = change.present.get("status") or {}
        entry = {part: str(status.get(part) or "") for part in ("phase", "status", "reason")}
        if entry not in self.sequence:
            self.sequence.append(entry)

    def _play(self, step: Mapping[str, Any]) -> None:
        with self._store.acting("user"):
            match step["do"]:
                case "patch-job":
                    self._store.edit(_JOBS, self._name, "", lambda job: job["spec"].update(step["patch"]["spec"]))
                case "delete-pod":
                    self._delete_pod()
                case "create":
                    self.cluster.add(copied(step["object"]))
                case "delete":
                    self.cluster.remove(step["object"])
                case "delete-job" if self.job is not None:
                    self._store.remove(by_plural(_JOBS), ("", self._name))
                case "delete-reservation" if (found := self.reservation) is not None:
                    self._store.remove(by_plural(_RESERVATIONS), ("", found["metadata"]["name"]))

    def _delete_pod(self) -> None:
        (namespace,) = {pod["metadata"]["namespace"] for pod in self._case["pods"]}
        found = self.cluster.get("pods", self._case["target"], namespace)
        if found is not None:
            delete_pod(self._store, found)


def recorded_objects(case: Mapping[str, Any]) -> Iterator[Object]:
    """The objects of a recorded case, with the ReplicaSets that their pods belong to."""
    yield from case["nodes"]
    owners: dict[str, Object] = {owner["uid"]: owner for pod in case["pods"] if (owner := controller_of(pod))}
    for workload in case["workloads"]:
        metadata = workload["metadata"]
        if workload["kind"] == "Deployment":
            whole = {**workload, "metadata": {**metadata, "uid": f"deployment-{metadata['name']}"}}
            yield whole
            yield from (_replica_set(whole, owner) for owner in owners.values() if owner["kind"] == "ReplicaSet")
        else:
            uids = [owner["uid"] for owner in owners.values() if owner["name"] == metadata["name"]]
            yield {**workload, "metadata": {**metadata, "uid": uids[0]}}
    yield from ({"apiVersion": "v1", "kind": "Pod", **pod} for pod in case["pods"])
    known = {("Reservation", found["metadata"]["name"]) for found in case["reservations"]}
    known |= {("Pod", pod["metadata"]["name"]) for pod in case["pods"]}
    yield from (found for found in case["others"] if (found["kind"], found["metadata"]["name"]) not in known)
    head = {"apiVersion": "scheduling.koordinator.sh/v1alpha1", "kind": "Reservation"}
    yield from ({**head, **found} for found in case["reservations"])


def _replica_set(deployment: Object, owner: Object) -> Object:
    template, metadata = copied(deployment["spec"]["template"]), deployment["metadata"]
    template["metadata"]["labels"]["pod-template-hash"] = owner["name"].rpartition("-")[2]
    reference = {"apiVersion": "apps/v1", "kind": "Deployment", "name": metadata["name"], "uid": metadata["uid"]}
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": owner["name"],
            "namespace": metadata["namespace"],
            "uid": owner["uid"],
            "ownerReferences": [{**reference, "controller": True}],
        },
        "spec": {**deployment["spec"], "template": template},
    }
