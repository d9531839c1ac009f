"""What a kubelet hands to a container runtime for a pod of the manifests, as far as a run needs it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from tests.cronjob.manifests import Manifest, named, pod_spec
from tests.e2e.cluster import Cluster
from tests.e2e.installation import workload_of

POLICY_FOLDER = "/policy-dir"
_ACCOUNT_FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount"


@dataclass(frozen=True, slots=True)
class Container:
    """One run of the image, always with a read-only root, no capability and no way to more rights."""

    arguments: tuple[str, ...]
    command: tuple[str, ...] | None = None
    """Instead of the image's entry point."""
    user: str = "65532:65532"
    """Numbers of user and group."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Beside the image's own."""
    mounts: Mapping[str, Path] = field(default_factory=dict)
    """Path in the container → folder or file outside, read-only."""


def container_of(manifests: list[Manifest], cluster: Cluster, folder: Path, *more: str) -> Container:
    """The container of the Job, with its policy, its account's token and the address of the cluster; `more` are flags.

    `folder` gets the files that are mounted. Raises AssertionError for a pod that asks for more rights than this has.
    """
    workload = workload_of(manifests)
    spec = pod_spec(workload)
    (main,) = spec["containers"]
    security = (spec.get("securityContext") or {}) | main["securityContext"]
    assert (security["readOnlyRootFilesystem"], security["capabilities"]["drop"]) == (True, ["ALL"])
    command = main.get("command")
    return Container(
        arguments=(*main["args"], *more),
        command=tuple(command) if command else None,
        user=f"{security['runAsUser']}:{security['runAsGroup']}",
        environment=cluster_address(cluster),
        mounts={
            POLICY_FOLDER: policy_files(manifests, folder / "policy"),
            _ACCOUNT_FOLDER: account_files(
                cluster, workload["metadata"]["namespace"], spec["serviceAccountName"], folder / "account"
            ),
        },
    )


def cluster_address(cluster: Cluster) -> dict[str, str]:
    """The variables by which every pod finds the API server."""
    url = urlsplit(cluster.plane.url)
    return {"KUBERNETES_SERVICE_HOST": str(url.hostname), "KUBERNETES_SERVICE_PORT": str(url.port)}


def policy_files(manifests: list[Manifest], folder: Path) -> Path:
    """`folder`, filled with what the ConfigMap that the pod mounts holds."""
    volumes = {volume["name"]: volume for volume in pod_spec(workload_of(manifests))["volumes"]}
    data = named(manifests, "ConfigMap")[volumes["policy"]["configMap"]["name"]]["data"]
    folder.mkdir()
    for name, text in data.items():
        (folder / name).write_text(text)
    return folder


def account_files(cluster: Cluster, namespace: str, account: str, folder: Path) -> Path:
    """`folder`, filled with what a kubelet mounts for a service account."""
    bearer = cluster.plane.api_as(namespace, account)
    assert bearer.ca_file is not None
    folder.mkdir()
    (folder / "token").write_text(bearer.token)
    (folder / "namespace").write_text(namespace)
    (folder / "ca.crt").write_bytes(bearer.ca_file.read_bytes())
    return folder
