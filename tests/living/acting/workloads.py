"""Deployments, ReplicaSets and StatefulSets keep their numbers of pods, as kube-controller-manager has them do."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from tests.living.acting.actor import Actor
from tests.living.api.evictions import is_ready
from tests.living.api.refusal import Refused
from tests.living.api.request import Target
from tests.living.api.writes import create, delete_pod, random_ending
from tests.living.resources import by_plural
from tests.living.store import Object

__all__ = ["DeploymentController", "ReplicaSetController", "StatefulSetController", "controller_of", "is_active"]

_PODS = by_plural("pods")
_RETRY_SECONDS = 1.0


def controller_of(found: Object) -> Object | None:
    """The owner reference of the controller, None without one."""
    references = found["metadata"].get("ownerReferences") or ()
    return next((reference for reference in references if reference.get("controller")), None)


def is_active(pod: Object) -> bool:
    """Whether a pod counts for its controller: neither ended nor about to."""
    return "deletionTimestamp" not in pod["metadata"] and pod["status"].get("phase") not in ("Succeeded", "Failed")


class _WorkloadController(Actor):
    """What the controllers of workloads share."""

    def owned(self, kind: str) -> dict[str, list[Object]]:
        """UID of a controller → its objects of a kind."""
        found = defaultdict(list)
        for item in self.store.all(kind):
            if (owner := controller_of(item)) is not None:
                found[owner["uid"]].append(item)
        return found

    def create_pod(self, workload: Object, name: str, more_labels: Object) -> None:
        """A pod of the template; what the API refuses is tried again."""
        template, metadata = workload["spec"]["template"], workload["metadata"]
        owner = {
            "apiVersion": workload["apiVersion"],
            "kind": workload["kind"],
            "name": metadata["name"],
            "uid": metadata["uid"],
            "controller": True,
            "blockOwnerDeletion": True,
        }
        made = dict(template.get("metadata") or {})
        made |= {"name": name, "labels": {**(made.get("labels") or {}), **more_labels}, "ownerReferences": [owner]}
        try:
            create(self.store, Target(_PODS, metadata["namespace"]), {"metadata": made, "spec": template["spec"]})
        except Refused:
            self.wake(_RETRY_SECONDS)

    def report(self, workload: Object, kind: str, pods: Iterable[Object]) -> None:
        """Writes the status that follows from the pods."""
        active = [pod for pod in pods if is_active(pod)]
        ready = sum(map(is_ready, active))
        counts = {"replicas": len(active), "readyReplicas": ready, "availableReplicas": ready}
        status = {**counts, "observedGeneration": workload["metadata"].get("generation", 1)}
        metadata = workload["metadata"]
        self.store.edit(kind, metadata["name"], metadata["namespace"], lambda found: found.update(status=status))


class DeploymentController(_WorkloadController):
    """Gives the newest ReplicaSet of a Deployment its number of replicas; it rolls nothing out."""

    name = "deployment-controller"
    kinds = frozenset({"Deployment", "ReplicaSet"})

    def act(self) -> None:
        sets = self.owned("replicasets.apps")
        for deployment in self.store.all("deployments.apps"):
            owned = sets[deployment["metadata"]["uid"]]
            if not owned:
                continue
            newest = max(owned, key=lambda found: (found["metadata"]["creationTimestamp"], found["metadata"]["name"]))
            metadata, replicas = newest["metadata"], deployment["spec"].get("replicas", 1)
            self.store.edit(
                "replicasets.apps",
                metadata["name"],
                metadata["namespace"],
                lambda found, replicas=replicas: found["spec"].update(replicas=replicas),  # type: ignore[misc]
            )
            status = dict(newest.get("status") or {})
            status |= {"updatedReplicas": status.get("replicas", 0)}
            status |= {"observedGeneration": deployment["metadata"].get("generation", 1)}
            self.store.replace(by_plural("deployments.apps"), {**deployment, "status": status})


class ReplicaSetController(_WorkloadController):
    """Creates pods with names of its own choice, and deletes those that are too many."""

    name = "replicaset-controller"
    kinds = frozenset({"ReplicaSet", "Pod"})

    def act(self) -> None:
        pods = self.owned("pods")
        for workload in self.store.all("replicasets.apps"):
            owned = pods[workload["metadata"]["uid"]]
            active = [pod for pod in owned if is_active(pod)]
            missing = workload["spec"].get("replicas", 1) - len(active)
            for _ in range(missing):
                self.create_pod(workload, f"{workload['metadata']['name']}-{random_ending(self.store)}", {})
            for pod in sorted(active, key=_worth)[: max(-missing, 0)]:
                delete_pod(self.store, pod)
            self.report(workload, "replicasets.apps", owned)


class StatefulSetController(_WorkloadController):
    """Creates the pod of an ordinal when no pod has its name any more, and by default one after the other."""

    name = "statefulset-controller"
    kinds = frozenset({"StatefulSet", "Pod"})

    def act(self) -> None:
        pods = self.owned("pods")
        for workload in self.store.all("statefulsets.apps"):
            metadata, replicas = workload["metadata"], workload["spec"].get("replicas", 1)
            is_parallel = workload["spec"].get("podManagementPolicy") == "Parallel"
            for ordinal in range(replicas):
                name = f"{metadata['name']}-{ordinal}"
                pod = self.store.get("pods", name, metadata["namespace"])
                if pod is None:
                    labels = {"statefulset.kubernetes.io/pod-name": name, "apps.kubernetes.io/pod-index": str(ordinal)}
                    self.create_pod(workload, name, labels)
                elif pod["status"].get("phase") == "Failed":
                    delete_pod(self.store, pod)
                if not is_parallel and (pod is None or not is_active(pod) or not is_ready(pod)):
                    break
            for pod in pods[metadata["uid"]]:
                if int(pod["metadata"]["name"].rpartition("-")[2]) >= replicas:
                    delete_pod(self.store, pod)
            self.report(workload, "statefulsets.apps", pods[metadata["uid"]])


def _worth(pod: Object) -> tuple[bool, bool, float, str]:
    """Pods that a ReplicaSet deletes first come first: unbound, not ready, young."""
    metadata = pod["metadata"]
    version = float(metadata["resourceVersion"])
    return bool(pod["spec"].get("nodeName")), is_ready(pod), -version, metadata["name"]
