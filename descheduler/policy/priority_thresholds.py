"""Priority thresholds: filled in while loading, and resolved by PriorityClass once a cluster is at hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import msgspec

from descheduler.policy.decode import Path
from descheduler.policy.document import Node, find
from descheduler.policy.plugin import dotted
from descheduler.policy.problems import PolicyError, Problem, did_you_mean, shown
from descheduler.policy.shared_args import PriorityThreshold
from descheduler.policy.types import SYSTEM_CRITICAL_PRIORITY, PluginConfig, Policy, Profile

__all__ = ["resolve_priority_thresholds", "threshold_of", "threshold_places", "too_high", "with_threshold_value"]

_EVICTOR = "DefaultEvictor"


def threshold_of(args: msgspec.Struct) -> PriorityThreshold | None:
    """The `priorityThreshold` among `args`, if they have one and it says something."""
    threshold = getattr(args, "priority_threshold", None)
    if not isinstance(threshold, PriorityThreshold) or threshold == PriorityThreshold():
        return None
    return threshold


def with_threshold_value(args: msgspec.Struct, value: int = SYSTEM_CRITICAL_PRIORITY) -> msgspec.Struct:
    """`args` with `value` as their threshold."""
    return msgspec.structs.replace(args, priority_threshold=PriorityThreshold(value=value))


def too_high(priority: int) -> str | None:
    """Why `priority` cannot be a threshold, or None."""
    if priority <= SYSTEM_CRITICAL_PRIORITY:
        return None
    return f"{priority} is above {SYSTEM_CRITICAL_PRIORITY}, the highest priority threshold"


def threshold_places(root: Node, profiles: tuple[Profile, ...]) -> dict[str, tuple[int, int]]:
    """Line and column of every `priorityThreshold.name`, by dotted field."""
    places = {}
    for index, profile in enumerate(profiles):
        for position in range(len(profile.plugin_configs)):
            path: Path = ("profiles", index, "pluginConfig", position)
            mark = find(root, (*path, "args", "priorityThreshold", "name")).mark
            if mark is not None:
                places[dotted(path)] = (mark.line, mark.column)
    return places


def resolve_priority_thresholds(policy: Policy, priority_class_values: Mapping[str, int]) -> Policy:
    """`policy` with every threshold given by name replaced by the value of that PriorityClass.

    Concerns the DefaultEvictor entry in use and, unless Koordinator's habit of ignoring names is asked for
    (`compatibility: upstream`), MigrationController. Raises PolicyError, stage `policy`, for a class that does not
    exist, and for a DefaultEvictor threshold above 2000000000.
    """
    problems: list[Problem] = []
    profiles = tuple(
        replace(
            profile,
            plugin_configs=tuple(
                _resolved(policy, index, config, priority_class_values, problems)
                if _is_resolved(policy, profile, config)
                else config
                for config in profile.plugin_configs
            ),
        )
        for index, profile in enumerate(policy.profiles)
    )
    if problems:
        raise PolicyError(problems)
    return replace(policy, profiles=profiles)


def _is_resolved(policy: Policy, profile: Profile, config: PluginConfig) -> bool:
    threshold = threshold_of(config.args)
    if threshold is None or not threshold.name or profile.args[config.name] is not config.args:
        return False
    return config.name == _EVICTOR or (policy.compatibility == "fixed" and threshold.value is None)


def _resolved(
    policy: Policy,
    profile_index: int,
    config: PluginConfig,
    priority_class_values: Mapping[str, int],
    problems: list[Problem],
) -> PluginConfig:
    threshold = threshold_of(config.args)
    name = threshold.name if threshold else ""
    value = priority_class_values.get(name)
    if value is None:
        message: str | None = f"there is no PriorityClass {shown(name)}{did_you_mean(name, priority_class_values)}"
    else:
        message = too_high(value) if config.name == _EVICTOR else None
        message = message and f"PriorityClass {shown(name)}: {message}"
    if message is not None or value is None:
        field = f"profiles[{profile_index}].pluginConfig.{config.name}.args.priorityThreshold.name"
        line, column = policy.places.get(f"{profile_index}/{config.name}", (None, None))
        problems.append(Problem(policy.path, line, column, field, message or ""))
        return config
    return PluginConfig(config.name, with_threshold_value(config.args, value))
