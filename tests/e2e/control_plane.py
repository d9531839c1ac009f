"""A real control plane on loopback: etcd, API server, controllers, scheduler, and kwok's simulated nodes."""

from __future__ import annotations

import secrets
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from subprocess import CompletedProcess

from tests.e2e import commands
from tests.e2e.binaries import Binaries
from tests.e2e.credentials import write_signing_key, write_token_file
from tests.e2e.kube_api import KubeApi
from tests.e2e.processes import READY_SECONDS, Component, free_port
from tests.loopback import write_kubeconfig

STORE = ("etcd", "kube-apiserver")
"""Parts of a cluster in which nothing moves by itself, for reading large snapshots."""
ALL_PARTS = (*STORE, "kube-controller-manager", "kube-scheduler", "kwok")

LEASE_SECONDS = 40
"""How long the lease of a node lasts by default."""

_START_SECONDS = 300.0  # an API server over 150,000 pods takes most of a minute on two idle cores


class ControlPlane:
    """The parts of one cluster, with ports, certificates and data of their own below `folder`.

    `parts` are names of `ALL_PARTS`. Further components (`add`) are stopped before those that they talk to.
    `lease_seconds` is for the leases of nodes, which are renewed four times as often.
    """

    def __init__(
        self, folder: Path, binaries: Binaries, *, parts: Sequence[str] = ALL_PARTS, lease_seconds: int = LEASE_SECONDS
    ) -> None:
        self.folder = folder
        self.binaries = binaries
        self.kubeconfig = folder / "admin.kubeconfig"
        self.etcd_url = f"http://127.0.0.1:{free_port()}"
        self._ca_file = folder / "certificates" / "apiserver.crt"
        self._api_port = free_port()
        self._parts = parts
        self._lease_seconds = lease_seconds
        self._components: dict[str, Component] = {}
        token = secrets.token_hex(16)
        folder.mkdir(parents=True, exist_ok=True)
        write_signing_key(folder / "signing-key.pem")
        write_token_file(folder / "tokens.csv", token)
        write_kubeconfig(self.kubeconfig, self.url, {"token": token}, authority=self._ca_file)
        self.api = KubeApi(self.url, token, self._ca_file)

    @property
    def url(self) -> str:
        """The API server's address."""
        return f"https://127.0.0.1:{self._api_port}"

    @property
    def log_folder(self) -> Path:
        """One file for each component."""
        return self.folder / "logs"

    def __getitem__(self, name: str) -> Component:
        """The component of that name, to kill, pause or restart."""
        return self._components[name]

    def start(self, fill_etcd: Callable[[str], None] | None = None) -> None:
        """Starts all parts and returns when they are ready; `fill_etcd` gets etcd's URL before the API server starts.

        Raises ComponentFailedError when a part ends or stays unready; `stop` is to be called then too.
        """
        self.add(self._make("etcd"))
        if fill_etcd is not None:
            fill_etcd(self.etcd_url)
        self.add(self._make("kube-apiserver"), _START_SECONDS)
        rest = [self._make(name) for name in self._parts if name not in STORE]
        for component in rest:
            self._components[component.name] = component
            component.start()
        for component in rest:
            component.wait_ready(_START_SECONDS)

    def stop(self) -> None:
        """Ends all components, the last started first, and waits for them."""
        clients = [c for name, c in self._components.items() if name not in STORE]
        with ThreadPoolExecutor(max_workers=8) as pool:
            list(pool.map(Component.stop, reversed(clients)))
        for name in reversed(STORE):
            if name in self._components:
                self._components[name].stop()

    def add(self, component: Component, timeout_seconds: float = READY_SECONDS) -> Component:
        """Starts one more component, waits until it is ready, and stops it with the rest."""
        self._components[component.name] = component
        component.start()
        component.wait_ready(timeout_seconds)
        return component

    def run_tool(self, program: str, *arguments: str, timeout_seconds: float = 120.0) -> CompletedProcess[str]:
        """What a program of the cache said and returned; its output goes into the log folder as well."""
        done = subprocess.run(
            [str(self.binaries[program]), *arguments],
            capture_output=True,
            text=True,
            timeout=timeout_seconds,
            check=False,
        )
        with (self.log_folder / f"{program}.log").open("a") as log:
            log.write(done.stdout + done.stderr)
        return done

    def api_as(self, namespace: str, service_account: str) -> KubeApi:
        """A client that may do what the roles of an existing service account allow."""
        return KubeApi(self.url, self._token_of(namespace, service_account), self._ca_file)

    def kubeconfig_as(self, namespace: str, service_account: str) -> Path:
        """Like `api_as`, as a kubeconfig."""
        file = self.folder / f"{namespace}.{service_account}.kubeconfig"
        token = self._token_of(namespace, service_account)
        write_kubeconfig(file, self.url, {"token": token}, authority=self._ca_file)
        return file

    def _token_of(self, namespace: str, service_account: str) -> str:
        path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{service_account}/token"
        request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
        return str(self.api.request("POST", path, request)["status"]["token"])

    def _make(self, name: str) -> Component:
        binary, port = self.binaries[name], free_port()
        match name:
            case "etcd":
                client_port = int(self.etcd_url.rpartition(":")[2])
                data = self.folder / "etcd" / "data"
                command = commands.etcd(binary, data=data, client_port=client_port, peer_port=port)
                return self._component(name, command, commands.answers(f"{self.etcd_url}/health"))
            case "kube-apiserver":
                command = commands.kube_apiserver(
                    binary, folder=self.folder, port=self._api_port, etcd_url=self.etcd_url
                )
                return self._component(name, command, self._api_is_ready)
            case "kube-controller-manager":
                command = commands.kube_controller_manager(
                    binary,
                    folder=self.folder,
                    port=port,
                    kubeconfig=self.kubeconfig,
                    lease_seconds=self._lease_seconds,
                )
                return self._component(name, command, commands.answers(f"https://127.0.0.1:{port}/healthz"))
            case "kube-scheduler":
                command = commands.kube_scheduler(binary, port=port, kubeconfig=self.kubeconfig)
                return self._component(name, command, commands.answers(f"https://127.0.0.1:{port}/readyz"))
            case "kwok":
                command = commands.kwok(
                    binary, port=port, kubeconfig=self.kubeconfig, lease_seconds=self._lease_seconds
                )
                return self._component(name, command, commands.answers(f"http://127.0.0.1:{port}/healthz"))
            case _:
                raise ValueError(f"part {name!r} is none of {', '.join(ALL_PARTS)}")

    def _component(self, name: str, command: Sequence[str], is_ready: Callable[[], bool]) -> Component:
        return Component(name, command, self.folder, is_ready=is_ready)

    def _api_is_ready(self) -> bool:
        # The server writes its certificate on the first start; before that there is nothing to trust.
        return self._ca_file.exists() and self.api.is_ready()


@contextmanager
def running(
    folder: Path,
    binaries: Binaries,
    *,
    parts: Sequence[str] = ALL_PARTS,
    fill_etcd: Callable[[str], None] | None = None,
    lease_seconds: int = LEASE_SECONDS,
) -> Iterator[ControlPlane]:
    """A control plane in `folder` that is stopped at the end, whatever happens; logs stay, its data is removed."""
    plane = ControlPlane(folder, binaries, parts=parts, lease_seconds=lease_seconds)
    try:
        plane.start(fill_etcd)
        yield plane
    finally:
        plane.stop()
        shutil.rmtree(folder / "etcd", ignore_errors=True)
