"""What the containers of a pod report about their current state; earlier states (`lastState`) never count."""

from __future__ import annotations

from collections.abc import Iterator

from descheduler.model.pod import ContainerStatus, Pod

__all__ = ["FINISHED", "container_statuses", "exit_codes", "reasons", "waiting_reasons"]

FINISHED = "the pod has finished"
"""Why a strategy that looks at active pods does not select one."""


def container_statuses(pod: Pod, *, init: bool, ephemeral: bool = False) -> Iterator[ContainerStatus]:
    """The statuses of the containers, then of init and ephemeral containers where asked for."""
    yield from pod.container_statuses
    if init:
        yield from pod.init_container_statuses
    if ephemeral:
        yield from pod.ephemeral_container_statuses


def waiting_reasons(pod: Pod, *, init: bool) -> Iterator[str]:
    """Why containers wait."""
    for status in container_statuses(pod, init=init):
        if status.waiting_reason is not None:
            yield status.waiting_reason


def reasons(pod: Pod, *, init: bool, ephemeral: bool = False) -> Iterator[str]:
    """The reason of the pod's status, then why its containers wait or have terminated; empty reasons are left out."""
    if pod.status_reason:
        yield pod.status_reason
    for status in container_statuses(pod, init=init, ephemeral=ephemeral):
        if status.waiting_reason:
            yield status.waiting_reason
        if status.terminated_reason:
            yield status.terminated_reason


def exit_codes(pod: Pod, *, init: bool) -> Iterator[int]:
    """Exit codes of the containers that have terminated."""
    for status in container_statuses(pod, init=init):
        if status.exit_code is not None:
            yield status.exit_code
