"""Deployments, ReplicaSets and StatefulSets keep their numbers of pods, as kube-controller-manager has them do."""

from __future__ import annotations

import zlib
from abc import abstractmethod
from collections.abc import Iterable, Sequence

from tests.living.acting.actor import Actor
from tests.living.api.evictions import is_ready
from tests.living.api.refusal import Refused
from tests.living.api.request import Target
from tests.living.api.writes import create, delete_pod, random_ending
from tests.living.clock import to_time
from tests.living.resources import by_plural
from tests.living.store import Change, Object, Store, copied

_PODS = by_plural("pods")
_RETRY_SECONDS = 1.0
_DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"


def controller_of(found: Object) -> Object | None:
    """The owner reference of the controller, None without one."""
    references = found["metadata"].get("ownerReferences") or ()
    return next((reference for reference in references if reference.get("controller")), None)


def controller_uid(found: Object) -> str | None:
    """The uid of the controller, None without one."""
    owner = controller_of(found)
    return None if owner is None else str(owner["uid"])


def reference_to(owner: Object) -> Object:
    """An owner reference to the controller `owner`."""
    metadata = owner["metadata"]
    head = {"apiVersion": owner["apiVersion"], "kind": owner["kind"]}
    return {**head, "name": metadata["name"], "uid": metadata["uid"], "controller": True, "blockOwnerDeletion": True}


def is_active(pod: Object) -> bool:
    """Whether a pod counts for its controller: neither ended nor about to."""
    return "deletionTimestamp" not in pod["metadata"] and pod["status"].get("phase") not in ("Succeeded", "Failed")


class _WorkloadController(Actor):
    """What the controllers of workloads share: they look at those of `kind` that have changed, or what is theirs."""

    kind: str
    """The kind of the workloads, as in `by_plural`."""
    parts: str
    """The kind of what they own."""

    def __init__(self, store: Store) -> None:
        self._changed = {found["metadata"]["uid"] for found in store.all(self.kind)}
        super().__init__(store)

    def concerns(self, change: Change) -> bool:
        """A workload, or what is owned by one."""
        if change.resource is by_plural(self.kind):
            self._changed.add(change.present["metadata"]["uid"])
            return True
        owner = controller_uid(change.present)
        if owner is not None:
            self._changed.add(owner)
        return owner is not None

    def act(self) -> None:
        """Brings the workloads that have changed to what they should be."""
        changed, self._changed = self._changed, set()
        for workload in self.store.all(self.kind):
            uid = workload["metadata"]["uid"]
            if uid in changed:
                self.keep(workload, self.store.grouped(self.parts, controller_uid).get(uid, ()))

    @abstractmethod
    def keep(self, workload: Object, owned: Sequence[Object]) -> None:
        """Brings one workload to what it should be."""

    def create_pod(self, workload: Object, name: str, more_labels: Object) -> None:
        """A pod of the template; what the API refuses is tried again."""
        template, metadata = workload["spec"]["template"], workload["metadata"]
        owner = reference_to(workload)
        made = dict(template.get("metadata") or {})
        made |= {"name": name, "labels": {**(made.get("labels") or {}), **more_labels}, "ownerReferences": [owner]}
        try:
            create(self.store, Target(_PODS, metadata["namespace"]), {"metadata": made, "spec": template["spec"]})
        except Refused:
            self._changed.add(metadata["uid"])
            self.wake(_RETRY_SECONDS)

    def report(self, workload: Object, pods: Iterable[Object]) -> None:
        """Writes the status that follows from the pods."""
        active = [pod for pod in pods if is_active(pod)]
        ready = sum(map(is_ready, active))
        counts = {"replicas": len(active), "readyReplicas": ready, "availableReplicas": ready}
        status = {**counts, "observedGeneration": workload["metadata"].get("generation", 1)}
        metadata = workload["metadata"]
        self.store.edit(self.kind, metadata["name"], metadata["namespace"], lambda found: found.update(status=status))


class DeploymentController(_WorkloadController):
    """Gives the newest ReplicaSet of a Deployment its number of replicas; it rolls nothing out."""

    name = "deployment-controller"
    kinds = frozenset({"Deployment", "ReplicaSet"})
    kind, parts = "deployments.apps", "replicasets.apps"

    def keep(self, workload: Object, owned: Sequence[Object]) -> None:
        if not owned:
            self._create_set(workload)
            return
        newest = max(owned, key=lambda found: (found["metadata"]["creationTimestamp"], found["metadata"]["name"]))
        metadata, replicas = newest["metadata"], workload["spec"].get("replicas", 1)
        self.store.edit(
            self.parts, metadata["name"], metadata["namespace"], lambda found: found["spec"].update(replicas=replicas)
        )
        status = dict(newest.get("status") or {})
        status |= {"updatedReplicas": status.get("replicas", 0)}
        status |= {"observedGeneration": workload["metadata"].get("generation", 1)}
        self.store.replace(by_plural(self.kind), {**workload, "status": status})

    def _create_set(self, deployment: Object) -> None:
        metadata, template = deployment["metadata"], copied(deployment["spec"]["template"])
        hashed = f"{zlib.crc32(repr(template).encode()):08x}"
        template.setdefault("metadata", {}).setdefault("labels", {})["pod-template-hash"] = hashed
        head = {"name": f"{metadata['name']}-{hashed}", "ownerReferences": [reference_to(deployment)]}
        body = {"metadata": head, "spec": {**deployment["spec"], "template": template}}
        create(self.store, Target(by_plural(self.parts), metadata["namespace"]), body)


class ReplicaSetController(_WorkloadController):
    """Creates pods with names of its own choice, and deletes those that are too many."""

    name = "replicaset-controller"
    kinds = frozenset({"ReplicaSet", "Pod"})

    kind, parts = "replicasets.apps", "pods"

    def keep(self, workload: Object, owned: Sequence[Object]) -> None:
        active = [pod for pod in owned if is_active(pod)]
        missing = workload["spec"].get("replicas", 1) - len(active)
        for _ in range(missing):
            self.create_pod(workload, f"{workload['metadata']['name']}-{random_ending(self.store)}", {})
        for pod in sorted(active, key=_worth)[: max(-missing, 0)]:
            delete_pod(self.store, pod)
        self.report(workload, owned)


class StatefulSetController(_WorkloadController):
    """Creates the pod of an ordinal when no pod has its name any more, and by default one after the other."""

    name = "statefulset-controller"
    kinds = frozenset({"StatefulSet", "Pod"})

    kind, parts = "statefulsets.apps", "pods"

    def keep(self, workload: Object, owned: Sequence[Object]) -> None:
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
        for pod in owned:
            if int(pod["metadata"]["name"].rpartition("-")[2]) >= replicas:
                delete_pod(self.store, pod)
        self.report(workload, owned)


def _worth(pod: Object) -> tuple[bool, bool, int, float, str]:
    """Pods that a ReplicaSet deletes first come first: unbound, not ready, of low deletion cost, young."""
    metadata = pod["metadata"]
    born = to_time(metadata["creationTimestamp"]).timestamp()
    cost = int((metadata.get("annotations") or {}).get(_DELETION_COST, 0))
    return bool(pod["spec"].get("nodeName")), is_ready(pod), cost, -born, metadata["name"]
