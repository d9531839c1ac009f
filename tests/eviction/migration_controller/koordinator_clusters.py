"""Small clusters of koord-scheduler's pods, and jobs that move them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any

import msgspec

from descheduler.eviction.handle import Handle
from descheduler.eviction.migration_controller.args import MigrationControllerArgs, default_args
from descheduler.eviction.migration_controller.migration_controller import MigrationController
from descheduler.model.groups.workloads import Workload
from descheduler.model.koordinator.migration_job import MigrationJob
from descheduler.model.pod import Owner, Pod
from tests.builders import NOW, make_node, make_pod
from tests.eviction.handles import make_handle


def make_args(**args: Any) -> MigrationControllerArgs:
    """Arguments in YAML spelling, defaults filled in."""
    return default_args(msgspec.convert(args, MigrationControllerArgs))


def make_plugin(handle: Handle, **args: Any) -> MigrationController:
    """The plugin with arguments in YAML spelling, defaults filled in."""
    return MigrationController(make_args(**args), handle)


def make_workload(replicas: int, *, kind: str = "ReplicaSet", name: str = "web", deployment: str = "") -> Workload:
    """A workload whose UID is the one that `tests.builders.owner` makes from kind and name."""
    owners = (Owner("Deployment", deployment, f"deployment-{deployment}", controller=True),) if deployment else ()
    return Workload(kind, "default", name, f"{kind}-{name}".lower(), replicas, owners)


def make_cluster(pods: Sequence[Pod], workloads: Iterable[Workload] = (), jobs: Sequence[MigrationJob] = ()) -> Handle:
    """A handle over two nodes; without workloads ReplicaSet `web` has five replicas."""
    known = list(workloads) or [make_workload(5)]
    return make_handle(
        [make_node("a"), make_node("b")],
        pods,
        kind="DeschedulerConfiguration",
        workloads={workload.uid: workload for workload in known},
        migration_jobs=tuple(jobs),
    )


def make_koord_pod(name: str, **facts: Any) -> Pod:
    """A pod that koord-scheduler places."""
    return make_pod(name, **{"scheduler": "koord-scheduler"} | facts)


def make_job(
    pod: Pod, *, phase: str = "Running", uid: str | None = None, name: str = "", age: float = 60, **facts: Any
) -> MigrationJob:
    """A job that moves `pod`, `age` seconds old at NOW."""
    created_at = NOW - timedelta(seconds=age)
    uid = pod.uid if uid is None else uid
    return MigrationJob(name or f"job-{pod.name}", phase, pod.namespace, pod.name, uid, created_at=created_at, **facts)
