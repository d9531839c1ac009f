"""Arguments of `Coscheduling` (koordinator 1.8). None of them changes which pods are bound together."""

from __future__ import annotations

from descheduler.placement.configuration.kube_scheduler.plugin_args import ArgsBlock, ArgsKind
from descheduler.policy.shared_args import Args, WithoutEffect

__all__ = ["ARGS"]


class CoschedulingArgsSection(Args, frozen=True):
    """`CoschedulingArgs`."""

    default_timeout: str | None = None
    """How long pods wait for others of their gang, `600s` by default; without effect here."""
    controller_workers: WithoutEffect[int | None] = None
    skip_check_schedule_cycle: WithoutEffect[bool | None] = None
    enable_preemption: bool | None = None
    """Whether a gang evicts pods of lower priority, off by default; without effect here."""
    aware_network_topology: bool | None = None
    """Whether gangs are kept in one part of the network, off by default; not modelled."""
    permit_waiting_time_seconds: int | None = None
    """That of kubernetes-sigs/scheduler-plugins, whose plugin has the same name; without effect here."""
    pod_group_backoff_seconds: int | None = None
    """The same."""


def _read(block: ArgsBlock, section: CoschedulingArgsSection) -> None:
    """Nothing of it is in use."""
    del block, section


ARGS: ArgsKind[None] = ArgsKind(CoschedulingArgsSection, _read)
