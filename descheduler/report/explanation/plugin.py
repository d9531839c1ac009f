"""The part of an `Explanation` about a plugin: what it does, its arguments, and what it decided."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from descheduler.report.document import Fields
from descheduler.report.facts import PluginFacts

__all__ = ["PluginArgument", "PluginDecisions", "PluginExplanation", "PluginUse"]


class PluginArgument(Fields, frozen=True):
    """One argument as a policy spells it; a part of another one with a dot, an item of a list with `[]`.

    `default` is JSON, empty for one that is simply unset.
    """

    name: str
    type_text: str = msgspec.field(name="type")
    default: str
    meaning: str


class PluginUse(Fields, frozen=True):
    """One profile that runs the plugin. `args` are those in use as JSON by name, without what is unset.

    `weight` is that of a scheduling plugin's score, null for all others.
    """

    profile: str
    points: tuple[str, ...]
    weight: int | None
    args: Mapping[str, str]


class PluginDecisions(Fields, frozen=True):
    """What the plugin did in one run over the snapshot, in one profile, and what it examined.

    A plugin that selects pods has `evicted` pods, and counts those that it selected and that are not evicted by
    reason code; `evicted_by_others` pods are selected by the plugin, too, and evicted by another one. A plugin that
    filters counts the pods that it refused by code. A pod counts once for each code. `goals` are
    the sentences of a planner about its goals. `facts` are null for a filter, and for a plugin that failed.
    """

    profile: str
    evicted: int
    evicted_by_others: int
    refused: Mapping[str, int]
    goals: tuple[str, ...]
    facts: PluginFacts | None


class PluginExplanation(Fields, frozen=True):
    """Everything about one plugin. `kind` is `descheduling` for plugins of a policy, `scheduling` for plugins of
    kube-scheduler.

    `reasons` are the words with which a scheduling plugin refuses nodes or pods. `uses` is empty when nothing that was
    given enables the plugin; `not_enabled` then says so of a policy and where to add it, else it is empty. `decisions`
    is empty without a policy and a snapshot.
    """

    name: str
    kind: Literal["descheduling", "scheduling"]
    summary: str
    about: tuple[str, ...]
    points: tuple[str, ...]
    reasons: tuple[str, ...]
    arguments: tuple[PluginArgument, ...]
    uses: tuple[PluginUse, ...]
    not_enabled: str
    decisions: tuple[PluginDecisions, ...]
