"""koord-scheduler and koord-descheduler, started on a control plane."""

from __future__ import annotations

import json
from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

from descheduler.placement.schedulers.koord_scheduler import MANIFEST
from tests.e2e.commands import answers
from tests.e2e.control_plane import ControlPlane
from tests.e2e.kube_api import Object
from tests.e2e.peers.definitions import install
from tests.e2e.processes import Component, free_port

SCHEDULER = "koord-scheduler"
DESCHEDULER = "koord-descheduler"
SYSTEM_NAMESPACE = "koordinator-system"


def install_koordinator(plane: ControlPlane) -> None:
    """Koordinator's definitions and system namespace."""
    install(plane, "koordinator", system_namespace=SYSTEM_NAMESPACE)


def start_scheduler(plane: ControlPlane, *, as_shipped: bool = False) -> Component:
    """Starts koord-scheduler; it binds pods whose `schedulerName` is `SCHEDULER`.

    Configured `as_shipped`, it never notes which pods use a Reservation.
    Version 1.8.0 crashes when Reservations are deleted while pods are in flight, so it is started again when it ends.
    """
    port, second_port = free_port(), free_port()
    config = _write(
        plane.folder / "koord-scheduler.json", _scheduler_configuration(plane.kubeconfig, as_shipped=as_shipped)
    )
    command = [
        str(plane.binaries[SCHEDULER]),
        f"--config={config}",
        f"--authentication-kubeconfig={plane.kubeconfig}",
        f"--authorization-kubeconfig={plane.kubeconfig}",
        "--authentication-skip-lookup=true",
        "--bind-address=127.0.0.1",
        f"--secure-port={port}",
        "--address=127.0.0.1",
        f"--port={second_port}",
    ]
    is_ready = answers(f"https://127.0.0.1:{port}/healthz")
    return plane.add(Component(SCHEDULER, command, plane.folder, is_ready=is_ready, restarts=True))


def start_descheduler(plane: ControlPlane, configuration: Mapping[str, Any] | None = None) -> Component:
    """Starts koord-descheduler; address, connection and election of its `configuration` are filled in.

    Without one it runs no strategy and only carries out PodMigrationJobs.
    """
    port = free_port()
    address = f"127.0.0.1:{port}"  # the flags for it are ignored when there is a configuration
    serving = {"healthzBindAddress": address, "metricsBindAddress": address}
    whole = {**(configuration or migration_only()), **serving, **_local(plane.kubeconfig)}
    config = _write(plane.folder / "koord-descheduler.json", whole)
    command = [str(plane.binaries[DESCHEDULER]), f"--config={config}", "--secure-port=0"]
    is_ready = answers(f"http://{address}/healthz")
    return plane.add(Component(DESCHEDULER, command, plane.folder, is_ready=is_ready))


def migration_only() -> Object:
    """A DeschedulerConfiguration with the MigrationController and no strategy."""
    return {
        "apiVersion": "descheduler/v1alpha2",
        "kind": "DeschedulerConfiguration",
        "deschedulingInterval": "1s",
        "profiles": [
            {
                "name": DESCHEDULER,
                "plugins": {
                    "deschedule": {"disabled": [{"name": "*"}]},
                    "evict": {"disabled": [{"name": "*"}], "enabled": [{"name": "MigrationController"}]},
                },
                "pluginConfig": [
                    {
                        "name": "MigrationController",
                        "args": {
                            "apiVersion": "descheduler/v1alpha2",
                            "kind": "MigrationControllerArgs",
                            "evictionPolicy": "Eviction",
                        },
                    }
                ],
            }
        ],
    }


def migration_job(name: str, pod: Object, *, mode: str = "ReservationFirst") -> Object:
    """A PodMigrationJob for one pod."""
    reference = {key: pod["metadata"][key] for key in ("namespace", "name", "uid")}
    return {
        "apiVersion": "scheduling.koordinator.sh/v1alpha1",
        "kind": "PodMigrationJob",
        "metadata": {"name": name},
        "spec": {"mode": mode, "ttl": "2m", "podRef": reference},
    }


def _scheduler_configuration(kubeconfig: Path, *, as_shipped: bool) -> Object:
    """Koordinator's own manifest, with one addition unless `as_shipped`: Reservation comes first under reserve as well,
    or no Reservation is ever consumed."""
    document: Object = deepcopy(dict(MANIFEST))
    (profile,) = document["profiles"]
    if not as_shipped:
        profile["plugins"]["reserve"]["enabled"].insert(0, {"name": "Reservation"})
    for config in profile["pluginConfig"]:
        config["args"] |= {"apiVersion": document["apiVersion"], "kind": f"{config['name']}Args"}
    return {**document, **_local(kubeconfig)}


def _local(kubeconfig: Path) -> Object:
    return {
        "clientConnection": {"kubeconfig": str(kubeconfig), "qps": 500, "burst": 1000},
        "leaderElection": {"leaderElect": False},
    }


def _write(file: Path, document: Object) -> Path:
    file.write_text(json.dumps(document, indent=2))
    return file
