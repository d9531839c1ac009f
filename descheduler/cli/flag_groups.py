"""The groups in which the help of a command lists its flags."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any, TypeVar

import click

__all__ = ["FlagGroup", "flag", "grouped", "with_flags"]

_Command = TypeVar("_Command", bound=Callable[..., Any])

_OWN = "Options"
"""What a command has of its own."""


class FlagGroup(Enum):
    """The groups in the order of the help, by title. They come after what a command has of its own."""

    DUMP = "Dump"
    CLUSTER = "Cluster"
    PODS = "Pods"
    SHARDS = "Shards"
    EVICTIONS = "Evictions"
    LEASE = "Lease"
    OUTPUT = "Output and log"
    NOTIFICATIONS = "Notifications"
    METRICS = "Metrics and traces"


class _Flag(click.Option):
    """A flag of a group."""

    def __init__(self, names: Sequence[str], *, group: FlagGroup, **attributes: Any) -> None:
        super().__init__(names, **attributes)
        self.group = group


def flag(group: FlagGroup, *names: str, **attributes: Any) -> Callable[[_Command], _Command]:
    """Adds a flag of `group` to a command; otherwise as `click.option`."""
    return click.option(*names, cls=_Flag, group=group, **attributes)


def with_flags(*added: Callable[[Callable[..., Any]], Callable[..., Any]]) -> Callable[[_Command], Callable[..., Any]]:
    """Adds several flags, each from `flag` or `click.option`, in this order of the help."""

    def add(command: _Command) -> Callable[..., Any]:
        decorated: Callable[..., Any] = command
        for each in reversed(added):
            decorated = each(decorated)
        return decorated

    return add


def grouped(parameters: Sequence[click.Parameter]) -> Mapping[str, Sequence[click.Parameter]]:
    """The parameters by title, in the order of the help; each in one group, and no group is empty."""
    found: dict[str, list[click.Parameter]] = {title: [] for title in (_OWN, *(group.value for group in FlagGroup))}
    for parameter in parameters:
        found[parameter.group.value if isinstance(parameter, _Flag) else _OWN].append(parameter)
    return {title: members for title, members in found.items() if members}
