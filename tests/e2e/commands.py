"""How each part of the control plane is started: command lines and questions for readiness."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from pathlib import Path
from urllib.request import urlopen

STAGES_FOLDER = Path(__file__).parent / "stages"

_API_QPS = ["--kube-api-qps=500", "--kube-api-burst=1000"]  # at the defaults a few hundred pods take minutes
_GATES = "DRADeviceTaintRules=true"
"""Off by default in 1.36; without DeviceTaintRules it changes nothing."""
_GRACE_SECONDS = 10
"""How much longer than the lease of a node lasts its controller waits; the defaults differ by as much."""


def etcd(binary: Path, *, data: Path, client_port: int, peer_port: int) -> list[str]:
    """One member that forgets durability: its data never outlives the test."""
    client, peer = f"http://127.0.0.1:{client_port}", f"http://127.0.0.1:{peer_port}"
    return [
        str(binary),
        f"--data-dir={data}",
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={client}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=default={peer}",
        "--unsafe-no-fsync",
        "--quota-backend-bytes=8589934592",
        "--max-txn-ops=10000",
        "--log-level=warn",
    ]


def kube_apiserver(binary: Path, *, folder: Path, port: int, etcd_url: str) -> list[str]:
    """Serves on loopback with a certificate of its own making, RBAC, and the administrator's token."""
    return [
        str(binary),
        f"--etcd-servers={etcd_url}",
        "--bind-address=127.0.0.1",
        "--advertise-address=127.0.0.1",
        "--endpoint-reconciler-type=none",  # an Endpoints object may not hold a loopback address
        f"--secure-port={port}",
        f"--cert-dir={folder / 'certificates'}",
        f"--service-account-key-file={folder / 'signing-key.pem'}",
        f"--service-account-signing-key-file={folder / 'signing-key.pem'}",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--token-auth-file={folder / 'tokens.csv'}",
        "--authorization-mode=Node,RBAC",
        "--service-cluster-ip-range=10.96.0.0/16",
        "--disable-admission-plugins=ServiceAccount",  # pods of the tests have no token volume
        "--max-requests-inflight=2000",
        "--max-mutating-requests-inflight=1000",
        # Else the server compares its cache with etcd every five minutes, by reading all objects: seconds of CPU for
        # 150,000 pods, which a bench would take for the price of the run that was under way.
        f"--feature-gates=DetectCacheInconsistency=false,{_GATES}",
        "--runtime-config=resource.k8s.io/v1beta2=true",  # of DeviceTaintRules
    ]


def kube_controller_manager(
    binary: Path, *, folder: Path, port: int, kubeconfig: Path, lease_seconds: int
) -> list[str]:
    """All controllers of a default installation; nodes have leases of `lease_seconds`."""
    return [
        str(binary),
        *_delegating(kubeconfig, port),
        f"--service-account-private-key-file={folder / 'signing-key.pem'}",
        "--use-service-account-credentials=false",
        f"--node-monitor-grace-period={lease_seconds + _GRACE_SECONDS}s",
        f"--feature-gates={_GATES}",
        *_API_QPS,
    ]


def kube_scheduler(binary: Path, *, port: int, kubeconfig: Path) -> list[str]:
    """The default profile."""
    return [str(binary), *_delegating(kubeconfig, port), f"--feature-gates={_GATES}", *_API_QPS]


def kwok(binary: Path, *, port: int, kubeconfig: Path, lease_seconds: int) -> list[str]:
    """Plays the stages of this folder on all nodes and their pods, and renews the nodes' leases of `lease_seconds`."""
    return [
        str(binary),
        f"--kubeconfig={kubeconfig}",
        "--manage-all-nodes=true",
        f"--node-lease-duration-seconds={lease_seconds}",
        f"--server-address=127.0.0.1:{port}",
        *(f"--config={file}" for file in sorted(STAGES_FOLDER.glob("*.yaml"))),
    ]


def answers(url: str) -> Callable[[], bool]:
    """A question for readiness: does `url` answer 200? Self-signed certificates are fine."""
    trust = ssl.create_default_context()
    trust.check_hostname = False
    trust.verify_mode = ssl.CERT_NONE

    def ask() -> bool:
        try:
            with urlopen(url, timeout=2, context=trust) as answer:  # noqa: S310 - an address that we chose
                return bool(answer.status == 200)
        except OSError:
            return False

    return ask


def _delegating(kubeconfig: Path, port: int) -> list[str]:
    return [
        f"--kubeconfig={kubeconfig}",
        f"--authentication-kubeconfig={kubeconfig}",
        f"--authorization-kubeconfig={kubeconfig}",
        "--authentication-skip-lookup=true",
        "--leader-elect=false",
        "--bind-address=127.0.0.1",
        f"--secure-port={port}",
    ]
