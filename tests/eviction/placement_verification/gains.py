"""Policies that verify landings and gains of one plugin."""

from __future__ import annotations

from descheduler.cycle.plugins import REGISTRY
from descheduler.policy.types import PolicyKind
from tests.builders import Object


def verifying(
    plugin: str, /, *, kind: PolicyKind = "DeschedulerPolicy", verification: Object | None = None, **args: object
) -> Object:
    """A policy that runs one plugin and PlacementVerification with these arguments."""
    (point,) = REGISTRY[plugin].extension_points
    configs = [
        {"name": "DefaultEvictor"},
        {"name": plugin, "args": args},
        {"name": "PlacementVerification", "args": verification or {}},
    ]
    plugins: Object = {point: {"enabled": [plugin]}, "preevictionfilter": {"enabled": ["PlacementVerification"]}}
    if kind == "DeschedulerConfiguration":
        only_default = {"enabled": [{"name": "DefaultEvictor"}], "disabled": [{"name": "*"}]}
        plugins = {point: {"enabled": [{"name": plugin}]}, "evict": only_default, "filter": only_default}
    profiles = [{"name": "p", "pluginConfig": configs, "plugins": plugins}]
    return {"apiVersion": "descheduler/v1alpha2", "kind": kind, "profiles": profiles}
