"""Arguments of kube-scheduler's plugins that a profile sets otherwise, in the spelling of its configuration."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from descheduler.placement.configuration.kube_scheduler.plugin_args import PluginArgs, ResourceWeight

__all__ = ["changed_args"]


def changed_args(plugin: str, args: PluginArgs) -> dict[str, str]:
    """Argument → value as JSON, for those of `plugin` that differ from the defaults."""
    usual = _values(plugin, PluginArgs())
    return {name: json.dumps(value) for name, value in _values(plugin, args).items() if value != usual[name]}


def _values(plugin: str, args: PluginArgs) -> Mapping[str, object]:
    match plugin:
        case "NodeResourcesFit":
            fit = args.node_resources_fit
            return {
                "ignoredResources": sorted(fit.ignored_resources),
                "ignoredResourceGroups": sorted(fit.ignored_resource_groups),
                "scoringStrategy.type": fit.strategy,
                "scoringStrategy.resources": _weights(fit.resources),
                "scoringStrategy.requestedToCapacityRatio.shape": [
                    {"utilization": point.utilization_percent, "score": point.score} for point in fit.shape
                ],
            }
        case "NodeResourcesBalancedAllocation":
            return {"resources": [{"name": name} for name in args.node_resources_balanced_allocation.resources]}
        case "NodeAffinity":
            return {"addedAffinity": args.node_affinity.added_affinity is not None}
        case "PodTopologySpread":
            spread = args.pod_topology_spread
            return {
                "defaultConstraints": [f"{c.topology_key} {c.when_unsatisfiable}" for c in spread.default_constraints],
                "defaultingType": "System" if spread.is_system_defaulted else "List",
            }
        case "InterPodAffinity":
            affinity = args.inter_pod_affinity
            return {
                "hardPodAffinityWeight": affinity.hard_pod_affinity_weight,
                "ignorePreferredTermsOfExistingPods": affinity.ignores_preferred_terms_of_existing_pods,
            }
    return {}


def _weights(resources: Iterable[ResourceWeight]) -> list[Mapping[str, object]]:
    return [{"name": resource.name, "weight": resource.weight} for resource in resources]
