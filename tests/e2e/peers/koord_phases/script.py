"""One recorded script as it is played: its cluster, its job and its steps, with names of its own."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from tests.e2e.kube_api import ApiError, KubeApi, Object, is_ready, wait_until
from tests.e2e.objects import BEHAVIOUR, namespace

Case = Mapping[str, Any]
_OF_RECORDING = ("creationTimestamp", "uid", "ownerReferences", "generateName", "resourceVersion")


class LiveScript:
    """The script of `case`; `tag` keeps the objects of one round apart from those of another."""

    def __init__(self, case: Case, tag: str, api: KubeApi) -> None:
        label: str = case["nodes"][0]["metadata"]["labels"]["case"]
        self.case: Case = json.loads(json.dumps(case).replace(label, f"{label}{tag}"))
        self.name: str = f"{case['name']} ({case['group']})"
        self.api = api
        self._job: Object = {}
        self._target: Object = {}

    @property
    def job_name(self) -> str:
        """The name of the PodMigrationJob."""
        return str(self.case["job"]["metadata"]["name"])

    @property
    def _namespace(self) -> str:
        return str(self.case["pods"][0]["metadata"]["namespace"])

    def set_up(self) -> None:
        """Creates all but the job; `wait_until_ready` is to follow."""
        case = self.case
        self.api.create(namespace(self._namespace))
        for node in case["nodes"]:
            self.api.create(node)
        for workload in case["workloads"]:
            extra = {"serviceName": "w"} if workload["kind"] == "StatefulSet" else {}
            self.api.create({**workload, "spec": {**workload["spec"], **extra}})
        if not case["workloads"]:
            for pod in case["pods"]:
                self.api.create(_bare(pod))

    def wait_until_ready(self) -> None:
        """Returns when pods and Reservations are as they were recorded, as far as they have to be."""
        pods = wait_until(f"pods of {self.name}", self._all_pods)
        self._target = self._choose_target(pods)
        others = [pod for pod in pods if pod["metadata"]["uid"] != self._target.get("metadata", {}).get("uid")]
        num_unready = sum(bool(pod["spec"].get("nodeName")) and not is_ready(pod) for pod in self.case["pods"])
        for pod in others[:num_unready]:
            self._make_unready(pod)
        for other in self.case["others"]:
            self.api.create(other)
        for reservation in self.case["reservations"]:
            self._wait_for_phase(reservation)

    def _all_pods(self) -> list[Object] | None:
        """The pods when there are as many as recorded, each with a node, and ready, if it had one."""
        pods = self.api.pods(self._namespace)
        num_placed = sum(bool(pod["spec"].get("nodeName")) for pod in self.case["pods"])
        is_there = len(pods) == len(self.case["pods"]) and sum(map(is_ready, pods)) == num_placed
        return pods if is_there else None

    def _choose_target(self, pods: list[Object]) -> Object:
        """The pod of the recorded name, or one on the same node; none where the job is for one that does not exist."""
        recorded = next((pod for pod in self.case["pods"] if pod["metadata"]["name"] == self.case["target"]), None)
        if recorded is None:
            return {}
        node = recorded["spec"].get("nodeName")
        namesakes = [pod for pod in pods if pod["metadata"]["name"] == self.case["target"]]
        return (namesakes or [pod for pod in pods if pod["spec"].get("nodeName") == node] or pods)[0]

    def _make_unready(self, pod: Object) -> None:
        self.api.patch(pod, {"metadata": {"annotations": {BEHAVIOUR: "never-ready"}}})
        conditions = [
            {**each, "status": "False"} if each["type"] in ("Ready", "ContainersReady") else each
            for each in pod["status"]["conditions"]
        ]
        self.api.patch(pod, {"status": {"conditions": conditions}}, subresource="status")

    def _wait_for_phase(self, recorded: Object) -> None:
        wanted = recorded["status"]["phase"]

        def has_it() -> bool:
            return bool(self.api.get(recorded).get("status", {}).get("phase") == wanted)

        wait_until(f"{recorded['metadata']['name']} is {wanted}", has_it)

    def create_job(self) -> None:
        """The user creates the job."""
        job = self.case["job"]
        reference = dict(job["spec"]["podRef"])
        if self._target and reference.get("name"):
            reference["name"] = self._target["metadata"]["name"]
        self._job = self.api.create({**job, "spec": {**job["spec"], "podRef": reference}})

    def play(self, step: Mapping[str, Any]) -> None:
        """One step of the script; what is gone by then is let be."""
        try:
            self._play(step)
        except ApiError as error:
            if error.status != 404:
                raise

    def _play(self, step: Mapping[str, Any]) -> None:
        match step["do"]:
            case "patch-job":
                self.api.patch(self._job, step["patch"])
            case "delete-pod":
                self.api.delete(self._target)
            case "delete-job":
                self.api.delete(self._job)
            case "delete-reservation":
                self.api.delete(self._reservation())
            case other:
                raise ValueError(f"no such step: {other}")

    def _reservation(self) -> Object:
        options = self.api.get(self._job)["spec"].get("reservationOptions") or {}
        name = options.get("reservationRef", {}).get("name") or self._job["metadata"]["uid"]
        return {"apiVersion": self._job["apiVersion"], "kind": "Reservation", "metadata": {"name": name}}

    def is_replaced(self) -> bool | None:
        """Whether the pod of the job is gone, or another has its name; None where there was none."""
        if not self._target:
            return None
        found = self.api.find(self._target)
        return found is None or found["metadata"]["uid"] != self._target["metadata"]["uid"]

    def remove(self) -> None:
        """Removes the job, so that nobody carries it out in another round."""
        if self._job and self.api.find(self._job) is not None:
            self.api.delete(self._job)


def _bare(pod: Object) -> Object:
    """The pod without what the API server had added."""
    metadata: Iterator[tuple[str, Any]] = ((k, v) for k, v in pod["metadata"].items() if k not in _OF_RECORDING)
    spec = {key: value for key, value in pod["spec"].items() if key != "priority"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": dict(metadata), "spec": spec}
