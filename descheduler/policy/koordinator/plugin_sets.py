"""Plugin sets of a DeschedulerConfiguration, and how they are merged with the default ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from descheduler.policy.plugin import ExtensionPoint
from descheduler.policy.shared_args import Args

__all__ = [
    "DEFAULT_PLUGINS",
    "OWN_DEFAULTS",
    "POINTS",
    "KoordinatorPluginSetSection",
    "KoordinatorPluginsSection",
    "merge_plugin_set",
]

_EVERYTHING = "*"

POINTS: Mapping[str, frozenset[ExtensionPoint]] = {
    "deschedule": frozenset({"deschedule"}),
    "balance": frozenset({"balance"}),
    "evict": frozenset({"evict"}),
    "filter": frozenset({"filter", "preEvictionFilter"}),
}
"""Plugin sets and what a plugin in them has to implement one of."""

DEFAULT_PLUGINS: Mapping[str, tuple[str, ...]] = {
    "deschedule": (),
    "balance": (),
    "evict": ("MigrationController",),
    "filter": ("MigrationController", "PlacementVerification"),
}
"""What runs in each set unless it is disabled there."""

OWN_DEFAULTS = frozenset({"PlacementVerification"})
"""The plugins that Koordinator does not have. A `*` is written to replace Koordinator's defaults, by people who may
not know of ours, so that only their names disable these."""


class PluginReference(Args, frozen=True):
    """One plugin, by name."""

    name: str = ""
    """Name of the plugin."""


class KoordinatorPluginSetSection(Args, frozen=True):
    """One plugin set as written; `*` among `disabled` stands for every default of Koordinator."""

    enabled: tuple[PluginReference, ...] = ()
    """Plugins that run after the defaults, in this order."""
    disabled: tuple[PluginReference, ...] = ()
    """Defaults that do not run; `*` stands for all of Koordinator's."""


class KoordinatorPluginsSection(Args, frozen=True):
    """All plugin sets of a profile."""

    deschedule: KoordinatorPluginSetSection = KoordinatorPluginSetSection()
    """Plugins that look at single pods; they run first."""
    balance: KoordinatorPluginSetSection = KoordinatorPluginSetSection()
    """Plugins that look at groups of pods or at nodes; they run after all of `deschedule`."""
    evict: KoordinatorPluginSetSection = KoordinatorPluginSetSection()
    """The one plugin that evicts; `MigrationController` by default."""
    filter: KoordinatorPluginSetSection = KoordinatorPluginSetSection()
    """Plugins that say which pods may go; `MigrationController` and `PlacementVerification` by default."""


def merge_plugin_set(defaults: Sequence[str], section: KoordinatorPluginSetSection) -> tuple[str, ...]:
    """The plugins that run: defaults that are not disabled, in their place, then the other enabled ones, in order.

    With `*`, those of `OWN_DEFAULTS` are kept, in the place that the section gives them, else ahead. A plugin enabled
    twice is there twice; that is for the caller to refuse. Mirrors koordinator-sh/koordinator 1.8
    `pkg/descheduler/apis/config/v1alpha2/default_plugins.go`.
    """
    disabled = {plugin.name for plugin in section.disabled}
    enabled = [plugin.name for plugin in section.enabled]
    kept = [name for name in defaults if name not in disabled]
    if _EVERYTHING in disabled:
        kept = [name for name in kept if name in OWN_DEFAULTS and name not in enabled]
    # Like the original, a default takes the last of several equal entries with it, and leaves the others behind.
    replaced = {len(enabled) - 1 - enabled[::-1].index(name) for name in kept if name in enabled}
    return (*kept, *(name for index, name in enumerate(enabled) if index not in replaced))
