"""Priority thresholds: filled in while loading, and resolved by PriorityClass once a cluster is at hand."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import msgspec

from descheduler.documents.problems import DocumentProblem, PolicyError, did_you_mean, dotted, shown
from descheduler.model.pod import CRITICAL_PRIORITY
from descheduler.policy.shared_args import PriorityThreshold
from descheduler.policy.types import PluginConfig, Policy, Profile

_EVICTOR = "DefaultEvictor"


def threshold_of(args: msgspec.Struct) -> PriorityThreshold | None:
    """The `priorityThreshold` among `args`, if they have one and it says something."""
    threshold = getattr(args, "priority_threshold", None)
    if not isinstance(threshold, PriorityThreshold) or threshold == PriorityThreshold():
        return None
    return threshold


def with_threshold_value(args: msgspec.Struct, value: int = CRITICAL_PRIORITY) -> msgspec.Struct:
    """`args` with `value` as their threshold."""
    return msgspec.structs.replace(args, priority_threshold=PriorityThreshold(value=value))


def too_high(priority: int) -> str | None:
    """Why `priority` cannot be a threshold, or None."""
    if priority <= CRITICAL_PRIORITY:
        return None
    return f"{priority} is above {CRITICAL_PRIORITY}, the highest priority threshold"


def resolve_priority_thresholds(policy: Policy, priority_class_values: Mapping[str, int]) -> Policy:
    """`policy` with every threshold given by name replaced by the value of that PriorityClass.

    Concerns the DefaultEvictor entry in use and, unless Koordinator's habit of ignoring names is asked for
    (`compatibility: upstream`), MigrationController. Raises PolicyError, stage `policy`, for a class that does not
    exist, and for a DefaultEvictor threshold above 2000000000.
    """
    problems: list[DocumentProblem] = []

    def resolved(args_in_use: Mapping[str, msgspec.Struct], config: PluginConfig) -> PluginConfig:
        threshold = threshold_of(config.args)
        if threshold is None or threshold.value is not None or args_in_use[config.name] is not config.args:
            return config
        if config.name != _EVICTOR and policy.compatibility == "upstream":
            return config
        value, message = _value_of(config, threshold.name, priority_class_values)
        if message is not None:
            line, column = config.threshold_place or (None, None)
            problems.append(
                DocumentProblem(
                    policy.path, line, column, dotted((*config.args_path, "priorityThreshold", "name")), message
                )
            )
        return dataclasses.replace(config, args=with_threshold_value(config.args, value))

    def with_values(profile: Profile) -> Profile:
        args_in_use = profile.args
        return msgspec.structs.replace(
            profile, plugin_configs=tuple(resolved(args_in_use, config) for config in profile.plugin_configs)
        )

    profiles = tuple(with_values(profile) for profile in policy.profiles)
    if problems:
        raise PolicyError(problems)
    return msgspec.structs.replace(policy, profiles=profiles)


def _value_of(config: PluginConfig, name: str, values: Mapping[str, int]) -> tuple[int, str | None]:
    if name not in values:
        return 0, f"there is no PriorityClass {shown(name)}{did_you_mean(name, values)}"
    message = too_high(values[name]) if config.name == _EVICTOR else None
    return values[name], message and f"PriorityClass {shown(name)}: {message}"
