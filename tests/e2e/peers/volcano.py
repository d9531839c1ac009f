"""Volcano's scheduler and controllers, started on a control plane."""

from __future__ import annotations

import re
import time

import urllib3

from tests.e2e.commands import answers
from tests.e2e.control_plane import ControlPlane
from tests.e2e.kube_api import Object
from tests.e2e.objects import pod
from tests.e2e.peers.definitions import install
from tests.e2e.processes import Component, free_port

SCHEDULER = "volcano"
_POLL_SECONDS = 0.05
_RETRIES = urllib3.Retry(connect=6, backoff_factor=0.5)
"""The scheduler answers for its health before it gives metrics."""
_CYCLES = "volcano_e2e_scheduling_latency_milliseconds_count"

_CONFIGURATION = """\
actions: "enqueue, allocate, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
  - name: conformance
- plugins:
  - name: predicates
  - name: proportion
  - name: nodeorder
"""


def install_volcano(plane: ControlPlane) -> None:
    """Volcano's definitions and system namespace."""
    install(plane, "volcano", system_namespace="volcano-system")


def start_scheduler(
    plane: ControlPlane, configuration: str = _CONFIGURATION, *, schedule_period: str = "500ms", metrics_port: int = 0
) -> Component:
    """Starts Volcano's scheduler with the text of a `volcano-scheduler.conf`; a session starts every period."""
    file = plane.folder / "volcano-scheduler.conf"
    file.write_text(configuration)
    return _start(
        plane,
        "volcano-scheduler",
        f"--scheduler-conf={file}",
        f"--schedule-period={schedule_period}",
        "--cache-dumper=false",
        *([f"--listen-address=127.0.0.1:{metrics_port}", "--enable-metrics=true"] if metrics_port else ()),
    )


def wait_for_cycles(metrics_port: int, number: int = 3) -> None:
    """Returns once the scheduler that gives its metrics there has ended so many sessions: it has seen what there is."""
    until = _num_cycles(metrics_port) + number
    while _num_cycles(metrics_port) < until:
        time.sleep(_POLL_SECONDS)


def _num_cycles(metrics_port: int) -> int:
    answer = urllib3.request("GET", f"http://127.0.0.1:{metrics_port}/metrics", timeout=30, retries=_RETRIES)
    found = re.search(rf"^{_CYCLES} ([0-9]+)$", answer.data.decode(), re.MULTILINE)
    return int(found[1]) if found else 0


def start_controllers(plane: ControlPlane) -> Component:
    """Starts Volcano's controllers: they make pods and pod groups from Volcano's jobs."""
    return _start(plane, "volcano-controller-manager")


def job(name: str, namespace: str, *, replicas: int, cpu: str = "100m") -> Object:
    """A Volcano job of one task whose pods start together or not at all."""
    template = pod(name, namespace, cpu=cpu, restartPolicy="OnFailure")
    task = {
        "name": "worker",
        "replicas": replicas,
        "minAvailable": replicas,
        "template": {"metadata": {"labels": template["metadata"]["labels"]}, "spec": template["spec"]},
    }
    return {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": namespace},
        # Volcano's webhooks would fill these in; they do not run here.
        "spec": {
            "schedulerName": SCHEDULER,
            "queue": "default",
            "maxRetry": 3,
            "minAvailable": replicas,
            "tasks": [task],
        },
    }


def _start(plane: ControlPlane, program: str, *flags: str) -> Component:
    port = free_port()
    command = [
        str(plane.binaries[program]),
        f"--kubeconfig={plane.kubeconfig}",
        "--leader-elect=false",
        "--kube-api-qps=500",
        "--kube-api-burst=1000",
        "--enable-healthz=true",
        f"--healthz-address=127.0.0.1:{port}",
        *flags,
    ]
    is_ready = answers(f"http://127.0.0.1:{port}/healthz")
    return plane.add(Component(program, command, plane.folder, is_ready=is_ready))
