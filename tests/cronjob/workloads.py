"""What must hold for every pod that the manifests make, however they were rendered."""

from __future__ import annotations

from datetime import timedelta

import click

from descheduler.cli.commands import commands
from tests.cronjob.manifests import Manifest, pod_spec

_PATIENCE_SECONDS = 60
"""Calls in flight are awaited for 30 s and Events for 10 s after the last eviction; the rest is for slow answers."""

_RESTRICTED = {
    "runAsNonRoot": True,
    "allowPrivilegeEscalation": False,
    "privileged": False,
    "readOnlyRootFilesystem": True,
    "capabilities": {"drop": ["ALL"]},
    "seccompProfile": {"type": "RuntimeDefault"},
}


def container(workload: Manifest) -> Manifest:
    """The one container of the pod."""
    found: Manifest
    (found,) = pod_spec(workload)["containers"]
    return found


def flags(workload: Manifest) -> dict[str, object]:
    """The container's arguments as the command line understands them. Raises click.UsageError for ones it does not."""
    name, *arguments = container(workload)["args"]
    parent = click.Context(commands, **commands.context_settings)
    command = commands.get_command(parent, name)
    assert command is not None
    return command.make_context(name, list(arguments), parent).params


def pod_security_problems(workload: Manifest) -> list[str]:
    """What keeps the pod from the profile `restricted` of the Pod Security Standards, or its root from read-only."""
    spec = pod_spec(workload)
    effective = (spec.get("securityContext") or {}) | (container(workload).get("securityContext") or {})
    problems = [
        f"{name}: {effective.get(name)}" for name, wanted in _RESTRICTED.items() if effective.get(name) != wanted
    ]
    problems += [f"{name} is set" for name in ("hostNetwork", "hostPID", "hostIPC") if spec.get(name)]
    problems += [f"volume {volume['name']}" for volume in spec["volumes"] if set(volume) != {"name", "configMap"}]
    if not effective.get("runAsUser"):
        problems.append("runs as root, or as whom the image says")
    return problems


def deadline_problems(workload: Manifest) -> list[str]:
    """How the times of the Job, the run and the pod fail to nest."""
    job = workload["spec"]["jobTemplate"]["spec"] if workload["kind"] == "CronJob" else workload["spec"]
    deadline = flags(workload)["deadline"]
    assert isinstance(deadline, timedelta)
    problems = []
    if deadline.total_seconds() + _PATIENCE_SECONDS > job["activeDeadlineSeconds"]:
        problems.append(f"--deadline {deadline}, activeDeadlineSeconds {job['activeDeadlineSeconds']}")
    if pod_spec(workload)["terminationGracePeriodSeconds"] < _PATIENCE_SECONDS:
        problems.append("killed before calls in flight have ended")
    return problems
