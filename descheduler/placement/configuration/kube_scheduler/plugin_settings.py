"""What reading a profile needs to know of a scheduling plugin."""

from __future__ import annotations

from typing import Any

import msgspec

from descheduler.placement.configuration.kube_scheduler.plugin_args import ArgsKind

__all__ = ["ByDefault", "PluginSettings"]


class ByDefault(msgspec.Struct, frozen=True):
    """That kube-scheduler runs a plugin by default: with which weight, and under which feature gate, if any.

    Without the gate `leads_without` it runs before the plugin that it follows in the table.
    """

    weight: int | None = None
    gate: str = ""
    leads_without: str = ""


class PluginSettings(msgspec.Struct, frozen=True, kw_only=True):
    """`points` are the extension points that a plugin implements, by the fields of `PluginsSection`.

    `multiPoint` of a profile enables it at these. `by_default` is None for one that a profile has to enable. At the
    points `prepared_for` it fails without what it leaves there for itself at PreFilter, or at PreScore for Score.
    `scoring_gate` names a gate without which it does not score, although it implements that point; empty for none.
    `args` are its arguments, None where it takes none.
    """

    points: frozenset[str]
    by_default: ByDefault | None = None
    prepared_for: frozenset[str] = frozenset()
    scoring_gate: str = ""
    args: ArgsKind[Any] | None = None
