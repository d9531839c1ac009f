"""`python -m tests.bench.official_client`: objects of rare kinds by this program's client and by the official one.

A run that evicts creates, patches and reads a few objects: a Lease, a ConfigMap, Reservations. Each way does that with
ConfigMaps, in a process of its own, against a small server that counts the requests. The figures are in
`docs/explanation/kubernetes-client.md`.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from descheduler.kube.client import KubeClient, connect
from descheduler.kube.objects import ObjectCalls
from tests.bench.measure import in_own_process, megabytes
from tests.loopback import Exchange, Listener, write_kubeconfig

_NAMESPACE = "kube-system"
_PATH = f"/api/v1/namespaces/{_NAMESPACE}/configmaps"
_GROUPS = ("apps", "batch", "coordination.k8s.io", "policy", "scheduling.koordinator.sh", "storage.k8s.io")
_VERSION = {"major": "1", "minor": "36", "gitVersion": "v1.36.0"}
_PATCH = {"data": {"moves": "2"}}
_MERGE_PATCH = "application/merge-patch+json"


class _Server:
    """Serves discovery and ConfigMaps; `asked` counts the requests by kind of path."""

    def __init__(self) -> None:
        self.asked = Counter[str]()
        self.objects: dict[str, Any] = {}


class _Exchange(Exchange[_Server]):
    def answer(self, body: bytes) -> None:
        path = self.target.path
        is_object = self.command != "GET" or path.startswith(f"{_PATH}/")
        self.owner.asked["object" if is_object else "discovery"] += 1
        if self.command == "POST":
            made = json.loads(body)
            self.owner.objects[f"{_PATH}/{made['metadata']['name']}"] = made
            self._send(made, 201)
        elif self.command == "PATCH":
            found = self.owner.objects[path]
            found["data"] |= json.loads(body)["data"]
            self._send(found)
        else:
            self._send(self.owner.objects[path] if is_object else _discovery(path))

    def _send(self, value: object, status: int = 200) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _discovery(path: str) -> Mapping[str, object]:
    if path == "/version":
        return _VERSION
    if path == "/api":
        return {"kind": "APIVersions", "versions": ["v1"]}
    if path == "/apis":
        versions = [{"name": group, "version": {"groupVersion": f"{group}/v1", "version": "v1"}} for group in _GROUPS]
        groups = [{"name": v["name"], "versions": [v["version"]], "preferredVersion": v["version"]} for v in versions]
        return {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}
    verbs = ["create", "get", "patch"]
    kind = {"name": "configmaps", "singularName": "configmap", "namespaced": True, "kind": "ConfigMap", "verbs": verbs}
    return {"kind": "APIResourceList", "groupVersion": path.rsplit("/", 1)[1], "resources": [kind]}


def _object(number: int) -> dict[str, Any]:
    metadata = {"name": f"c{number}", "namespace": _NAMESPACE}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"moves": "1"}}


def by_own_client(kubeconfig: str, times: int) -> Sequence[float]:
    """Seconds of CPU for creating, patching and reading that many objects, without the imports."""
    calls = ObjectCalls(connect(kubeconfig))
    started = time.process_time()
    for number in range(times):
        path = f"{_PATH}/c{number}"
        calls.create(_PATH, _object(number), json.loads)
        calls.patch(path, _PATCH, json.loads)
        calls.read(path, json.loads)
    return (time.process_time() - started,)


def by_official_client(kubeconfig: str, times: int) -> Sequence[float]:
    """The same by the official client alone."""
    from kubernetes import config

    load: Callable[[str], Any] = config.new_client_from_config
    return _by_dynamic_client(load(kubeconfig), times)


def by_official_client_over_own_transport(kubeconfig: str, times: int) -> Sequence[float]:
    """The same by the dynamic client, whose requests go through this program's transport, with its credentials."""
    from kubernetes.client import ApiClient, Configuration

    client = connect(kubeconfig)
    configuration = Configuration()
    configuration.host = client.host
    api: Any = ApiClient(configuration)
    api.rest_client = _OwnTransport(client)
    return _by_dynamic_client(api, times)


def _by_dynamic_client(api: Any, times: int) -> Sequence[float]:
    from kubernetes.dynamic import DynamicClient

    with tempfile.TemporaryDirectory() as folder:  # a CronJob starts without a cache, on a file system of its own
        started = time.process_time()
        make: Callable[..., Any] = DynamicClient
        kind = make(api, cache_file=f"{folder}/kinds").resources.get(api_version="v1", kind="ConfigMap")
        for number in range(times):
            kind.create(body=_object(number), namespace=_NAMESPACE)
            kind.patch(name=f"c{number}", namespace=_NAMESPACE, body=_PATCH, content_type=_MERGE_PATCH)
            kind.get(name=f"c{number}", namespace=_NAMESPACE)
        return (time.process_time() - started,)


class _OwnTransport:
    """What the official client sends requests by."""

    def __init__(self, client: KubeClient) -> None:
        self._client = client

    def request(self, method: str, url: str, **given: Any) -> Any:
        """The answer, in the shape that the official client reads."""
        from kubernetes.client.rest import RESTResponse
        from urllib3 import HTTPResponse

        sent = self._client.send(
            method,
            url.removeprefix(self._client.host),
            query=dict(given.get("query_params") or ()),
            body=json.dumps(given["body"]).encode() if given.get("body") is not None else None,
            max_bytes=16 << 20,
            content_type=(given.get("headers") or {}).get("Content-Type", "application/json"),
        )
        return RESTResponse(HTTPResponse(body=sent.body, status=sent.status_code, headers={}, preload_content=True))


_WAYS: Mapping[str, Callable[[str, int], Sequence[float]]] = {
    "own client": by_own_client,
    "official client": by_official_client,
    "official client over own transport": by_official_client_over_own_transport,
}


@contextmanager
def _served() -> Iterator[tuple[_Server, str]]:
    server = _Server()
    with Listener(_Exchange, server) as listener, tempfile.TemporaryDirectory() as folder:
        yield server, str(write_kubeconfig(Path(folder) / "config", listener.url, {"token": "t"}))


def main() -> None:
    """Prints CPU, memory and requests of each way for one object, and for a hundred."""
    for name, work in _WAYS.items():
        for times in (1, 100):
            with _served() as (server, kubeconfig):
                used = in_own_process(work, kubeconfig, times)
            print(
                f"{name}, {times:,} objects: {used.cpu_seconds:.2f} s CPU and {megabytes(used.peak_bytes)} in all, "
                f"{used.figures[0] * 1000 / times:.1f} ms an object, {server.asked['object']:,} requests and "
                f"{server.asked['discovery']:,} for discovery"
            )


if __name__ == "__main__":
    main()
