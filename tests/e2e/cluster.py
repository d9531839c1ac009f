"""What a test gets: a control plane, an empty namespace, and words for what tests do often."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.e2e import objects
from tests.e2e.control_plane import ALL_PARTS, STORE, ControlPlane
from tests.e2e.kube_api import ApiError, KubeApi, Object, is_ready, wait_until


class Cluster:
    """One test's view of a control plane. Everything made through it is gone after `clear`."""

    def __init__(self, plane: ControlPlane, namespace: str) -> None:
        self.plane = plane
        self.namespace = namespace
        self._made: list[Object] = []
        self.create(objects.namespace(namespace))

    @property
    def api(self) -> KubeApi:
        """The administrator's client."""
        return self.plane.api

    @property
    def kubeconfig(self) -> Path:
        """The administrator's kubeconfig."""
        return self.plane.kubeconfig

    def create(self, obj: Object) -> Object:
        """The stored object; those outside the namespace are remembered and deleted by `clear`."""
        made = wait_until("its PriorityClass is known to admission", lambda: self._admitted(obj), timeout_seconds=20.0)
        if obj["metadata"].get("namespace") != self.namespace:
            self._made.append(obj)
        return made

    def _admitted(self, obj: Object) -> Object | None:
        """The stored object; None while admission, which hears of new classes late, does not know the one it names."""
        try:
            return self.api.create(obj)
        except ApiError as error:
            if "no PriorityClass with name" in str(error):
                return None
            raise

    def add_nodes(self, *nodes: Object) -> None:
        """Creates nodes and returns when the scheduler may use them; one marked not-ready is not waited for."""
        for each in nodes:
            self.create(each)
        for each in nodes:
            if each["metadata"]["annotations"].get(objects.BEHAVIOUR) != "not-ready":
                self.wait_node_ready(each["metadata"]["name"])

    def wait_node_ready(self, name: str) -> None:
        """Returns when the node is ready and has lost the taints of one that is not."""

        def usable() -> bool:
            node = self.api.get(objects.node(name))
            taints = {taint["key"] for taint in node["spec"].get("taints", [])}
            return is_ready(node) and not {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"} & taints

        wait_until(f"node {name} is ready", usable)

    def pods(self, app: str) -> list[Object]:
        """The pods labelled `app: <app>`, those being deleted included."""
        return self.api.pods(self.namespace, labelSelector=f"app={app}")

    def wait_ready(self, app: str, count: int, timeout_seconds: float = 180.0) -> list[Object]:
        """The pods of `app`, once exactly `count` live, all of them ready."""

        def all_ready() -> list[Object] | None:
            live = [pod for pod in self.pods(app) if "deletionTimestamp" not in pod["metadata"]]
            return live if len(live) == count and all(map(is_ready, live)) else None

        return wait_until(f"{count} pods of {app} are ready", all_ready, timeout_seconds)

    def run(self, workload: Object) -> list[Object]:
        """Creates a deployment or stateful set and returns its pods, all ready."""
        self.create(workload)
        return self.wait_ready(workload["metadata"]["name"], workload["spec"]["replicas"])

    @contextmanager
    def asleep(self) -> Iterator[None]:
        """Freezes controllers, scheduler and kubelets, so that for a while only the caller changes anything."""
        parts = [self.plane[name] for name in ALL_PARTS if name not in STORE]
        for part in parts:
            part.pause()
        try:
            yield
        finally:
            for part in parts:
                part.resume()

    def clear(self) -> None:
        """Deletes everything that was made here and waits until no pod and no node is left.

        Namespaces go first: controllers cannot fill one that is being deleted. Their last traces vanish later.
        """
        for obj in self._made:
            self._delete(obj)
        for obj in self._made:
            if obj["kind"] == "Namespace":
                self._delete_pods(obj["metadata"]["name"])
            else:
                self._wait_gone(obj)

    def _wait_gone(self, obj: Object) -> None:
        wait_until(f"{obj['kind']} {obj['metadata']['name']} is gone", lambda: self.api.find(obj) is None)

    def _delete(self, obj: Object) -> None:
        try:
            self.api.delete(obj)
        except ApiError as error:
            if error.status != 404:
                raise

    def _delete_pods(self, namespace: str) -> None:
        path = f"/api/v1/namespaces/{namespace}/pods"

        def none_left() -> bool:
            self.api.request("DELETE", f"{path}?gracePeriodSeconds=0")
            return not self.api.items(path)

        wait_until(f"namespace {namespace} holds no pod", none_left)
        # The namespace's controller comes back for what pods still used after some seconds; volumes wait for claims.
        self.api.request("DELETE", f"/api/v1/namespaces/{namespace}/persistentvolumeclaims")
