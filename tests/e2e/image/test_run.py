"""The image as it runs in a cluster: as the CronJob's user, with a read-only root and the rights of its account."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from descheduler.version import VERSION
from tests.cronjob.manifests import BASE, OVERLAYS, REPOSITORY, pod_spec
from tests.cronjob.rendering import Helm, Kustomize
from tests.e2e.cluster import Cluster
from tests.e2e.image.container import Container, container_of
from tests.e2e.image.engines import Engine
from tests.e2e.installation import (
    AGED,
    DRY,
    Rendered,
    assert_moved_to_the_other_node,
    install,
    release_values,
    workload_of,
)
from tests.e2e.kube_api import ApiError, KubeApi
from tests.e2e.program import Report

CONFIG = REPOSITORY / "config"
SAMPLE = (
    "run",
    "--policy-config-file=config/policy.yaml",
    "--snapshot=config/samples/openb.jsonl.gz",
    "--now=2026-01-15T12:00:00Z",
    "--output=json",
)
SAYS_WHO_IT_IS = """
import errno, json, os
def refused(path):
    try:
        open(path, "w")
    except OSError as error:
        return errno.errorcode[error.errno]
status = dict(line.split(":\\t", 1) for line in open("/proc/self/status").read().splitlines())
print(json.dumps({
    "user": os.getuid(), "group": os.getgid(), "other groups": sorted({*os.getgroups()} - {os.getgid()}),
    "capabilities": [int(status[name], 16) for name in ("CapPrm", "CapEff", "CapAmb")],
    "no new privileges": int(status["NoNewPrivs"]),
    "refused": [refused(path) for path in ("/file", "/tmp/file", "/opt/descheduler/file")],
}))
"""
USES_WHAT_IS_LOADED_LATE = """
import bz2, ctypes, curses, decimal, hashlib, lzma, readline, socket, sqlite3, ssl, zlib
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
OTLPSpanExporter(endpoint="127.0.0.1:1", insecure=True)
assert ssl.create_default_context().get_ca_certs()
"""


def in_python(script: str) -> Container:
    """The image's interpreter with a script, instead of the program."""
    return Container(("-c", script), command=("/opt/descheduler/bin/python",))


def run_job(image: Engine, manifests: Rendered, cluster: Cluster, folder: Path, *more: str) -> Report:
    """How the Job of the manifests ends, in the image."""
    folder.mkdir()
    done = image.run(container_of(manifests, cluster, folder, "--output=json", AGED, *more))
    return Report(done.returncode, json.loads(done.stdout) if done.stdout.strip() else {}, done.stderr)


def account_of(cluster: Cluster, manifests: Rendered) -> KubeApi:
    """A client with the rights of the Job."""
    workload = workload_of(manifests)
    return cluster.plane.api_as(workload["metadata"]["namespace"], pod_spec(workload)["serviceAccountName"])


def status_of(api: KubeApi, method: str, path: str) -> int:
    """The status of a request without a body."""
    try:
        api.request(method, path)
    except ApiError as error:
        return error.status
    return 200


def assert_is_no_administrator(cluster: Cluster, manifests: Rendered) -> None:
    """So what the run did was allowed by the roles of the manifests alone."""
    account, pods = account_of(cluster, manifests), f"/api/v1/namespaces/{cluster.namespace}/pods"
    assert status_of(account, "GET", pods) == 200
    assert status_of(account, "GET", "/api/v1/secrets") == 403
    assert status_of(account, "DELETE", pods) == 403


def rendered(cluster: Cluster, kustomize: Kustomize, helm: Helm, tool: str, *, dry: bool) -> Rendered:
    """What the user of a tool installs, with the defaults."""
    if tool == "kustomize":
        return kustomize.build(OVERLAYS / "dry-run" if dry else BASE)
    return helm.template(release_values(cluster, *[DRY] * dry))


def test_program_is_the_entry_point(image: Engine) -> None:
    done = image.run(Container(("version",)))

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"descheduler {VERSION} ")


def test_container_is_as_confined_as_the_manifests_ask(image: Engine) -> None:
    """Holds for what the engine does here, so that the other tests show what they say."""
    done = image.run(in_python(SAYS_WHO_IT_IS))

    assert json.loads(done.stdout) == {
        "user": 65532,
        "group": 65532,
        "other groups": [],
        "capabilities": [0, 0, 0],
        "no new privileges": 1,
        "refused": ["EROFS", "EROFS", "EROFS"],
    }


def test_whatever_is_loaded_late_is_there(image: Engine) -> None:
    """Shared libraries of the standard library, traces over OTLP, and the certificate authorities."""
    done = image.run(in_python(USES_WHAT_IS_LOADED_LATE))

    assert (done.returncode, done.stderr) == (0, "")


def test_sample_is_planned_as_outside_of_the_image(image: Engine) -> None:
    here = subprocess.run(
        [str(Path(sys.executable).parent / "descheduler"), *SAMPLE], cwd=REPOSITORY, capture_output=True, check=True
    )

    done = image.run(Container(SAMPLE, mounts={"/config": CONFIG}))

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == json.loads(here.stdout)


@pytest.mark.parametrize("tool", ["kustomize", "helm"])
def test_dry_run_shows_what_would_go(
    image: Engine, cluster: Cluster, kustomize: Kustomize, helm: Helm, tmp_path: Path, tool: str
) -> None:
    manifests = rendered(cluster, kustomize, helm, tool, dry=True)
    install(cluster, manifests)
    before = {pod["metadata"]["uid"] for pod in cluster.pods("web")}

    report = run_job(image, manifests, cluster, tmp_path / "dry")

    assert report.exit_code == 0, report.log
    assert {move["pod"]["uid"] for move in report.document["moves"]} == before
    assert {pod["metadata"]["uid"] for pod in cluster.pods("web")} == before
    assert "forbidden" not in report.log.lower()


@pytest.mark.parametrize("tool", ["kustomize", "helm"])
def test_live_run_evicts_with_the_roles_of_the_manifests(
    image: Engine, cluster: Cluster, kustomize: Kustomize, helm: Helm, tmp_path: Path, tool: str
) -> None:
    manifests = rendered(cluster, kustomize, helm, tool, dry=False)
    install(cluster, manifests)

    report = run_job(image, manifests, cluster, tmp_path / "live")

    assert_moved_to_the_other_node(cluster, report)
    assert "forbidden" not in report.log.lower()
    assert_is_no_administrator(cluster, manifests)
