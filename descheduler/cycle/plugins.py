"""The plugins of this program: one table, name to arguments, extension points and factory."""

from __future__ import annotations

from functools import partial
from typing import Any

from descheduler.eviction.default_evictor import default_evictor
from descheduler.eviction.migration_controller import args as migration_args
from descheduler.eviction.migration_controller.args_checks import validate_args as validate_migration_args
from descheduler.eviction.migration_controller.migration_controller import MigrationController
from descheduler.eviction.placement_verification import placement_verification
from descheduler.planner import args as planner_args
from descheduler.planner.migration_planner import MigrationPlanner
from descheduler.planner.objectives.draining import drained_nodes
from descheduler.policy.plugin import ExtensionPoint, PluginSpec, Registry
from descheduler.policy.plugin_faults import Origin
from descheduler.policy.plugin_packages import PLUGIN_GROUP, WithPackages
from descheduler.strategies import (
    custom_priority,
    fragmentation_aware,
    high_node_utilization,
    load_aware,
    low_node_utilization,
    pod_life_time,
    remove_duplicates,
    remove_failed_pods,
    remove_pods_having_too_many_restarts,
    remove_pods_violating_device_taints,
    remove_pods_violating_inter_pod_anti_affinity,
    remove_pods_violating_node_affinity,
    remove_pods_violating_node_taints,
    rescheduling,
    scale_down_bin_pack,
)
from descheduler.strategies.low_node_load import args as low_node_load_args
from descheduler.strategies.low_node_load import low_node_load
from descheduler.strategies.low_node_load import pools as low_node_load_pools
from descheduler.strategies.remove_pods_violating_node_reservation import remove_pods_violating_node_reservation
from descheduler.strategies.remove_pods_violating_topology_spread_constraint import (
    remove_pods_violating_topology_spread_constraint,
)
from descheduler.strategies.revoke_pods_over_elastic_quota import revoke_pods_over_elastic_quota

_deschedule_plugin = partial(PluginSpec, extension_points=frozenset[ExtensionPoint]({"deschedule"}))
_balance_plugin = partial(PluginSpec, extension_points=frozenset[ExtensionPoint]({"balance"}))

_SPECS: tuple[PluginSpec[Any], ...] = (
    PluginSpec(
        name="DefaultEvictor",
        args_type=default_evictor.DefaultEvictorArgs,
        extension_points=frozenset({"filter", "preEvictionFilter", "evict"}),
        factory=default_evictor.DefaultEvictor,
        validate=default_evictor.validate_args,
        needs=default_evictor.needs,
        construction_problems=default_evictor.construction_problems,
    ),
    PluginSpec(
        name="MigrationController",
        args_type=migration_args.MigrationControllerArgs,
        extension_points=frozenset({"filter", "preEvictionFilter", "evict"}),
        factory=MigrationController,
        validate=validate_migration_args,
        needs=migration_args.needs,
        creates_reservations=migration_args.creates_reservations,
        defaults=migration_args.default_args,
        native=True,
    ),
    PluginSpec(
        name="PlacementVerification",
        args_type=placement_verification.PlacementVerificationArgs,
        extension_points=frozenset({"preEvictionFilter"}),
        factory=placement_verification.PlacementVerification,
        validate=placement_verification.validate_args,
        needs=placement_verification.needs,
        defaults=placement_verification.default_args,
        file_problems=placement_verification.file_problems,
    ),
    _deschedule_plugin(
        name="PodLifeTime",
        args_type=pod_life_time.PodLifeTimeArgs,
        factory=pod_life_time.PodLifeTime,
        validate=pod_life_time.validate_args,
        needs=pod_life_time.needs,
    ),
    _deschedule_plugin(
        name="RemoveFailedPods",
        args_type=remove_failed_pods.RemoveFailedPodsArgs,
        factory=remove_failed_pods.RemoveFailedPods,
        validate=remove_failed_pods.RemoveFailedPodsArgs.filter_problems,
        defaults=remove_failed_pods.default_args,
    ),
    _deschedule_plugin(
        name="RemovePodsHavingTooManyRestarts",
        args_type=remove_pods_having_too_many_restarts.RemovePodsHavingTooManyRestartsArgs,
        factory=remove_pods_having_too_many_restarts.RemovePodsHavingTooManyRestarts,
        validate=remove_pods_having_too_many_restarts.validate_args,
    ),
    _deschedule_plugin(
        name="RemovePodsViolatingDeviceTaints",
        args_type=remove_pods_violating_device_taints.RemovePodsViolatingDeviceTaintsArgs,
        factory=remove_pods_violating_device_taints.RemovePodsViolatingDeviceTaints,
        validate=remove_pods_violating_device_taints.validate_args,
        needs=remove_pods_violating_device_taints.needs,
    ),
    _deschedule_plugin(
        name="RemovePodsViolatingInterPodAntiAffinity",
        args_type=remove_pods_violating_inter_pod_anti_affinity.RemovePodsViolatingInterPodAntiAffinityArgs,
        factory=remove_pods_violating_inter_pod_anti_affinity.RemovePodsViolatingInterPodAntiAffinity,
        validate=remove_pods_violating_inter_pod_anti_affinity.RemovePodsViolatingInterPodAntiAffinityArgs.filter_problems,
    ),
    _deschedule_plugin(
        name="RemovePodsViolatingNodeAffinity",
        args_type=remove_pods_violating_node_affinity.RemovePodsViolatingNodeAffinityArgs,
        factory=remove_pods_violating_node_affinity.RemovePodsViolatingNodeAffinity,
        validate=remove_pods_violating_node_affinity.validate_args,
    ),
    _deschedule_plugin(
        name="RemovePodsViolatingNodeReservation",
        args_type=remove_pods_violating_node_reservation.RemovePodsViolatingNodeReservationArgs,
        factory=remove_pods_violating_node_reservation.RemovePodsViolatingNodeReservation,
        validate=remove_pods_violating_node_reservation.validate_args,
        defaults=remove_pods_violating_node_reservation.default_args,
        needs=remove_pods_violating_node_reservation.needs,
        remembers=True,
    ),
    _deschedule_plugin(
        name="RemovePodsViolatingNodeTaints",
        args_type=remove_pods_violating_node_taints.RemovePodsViolatingNodeTaintsArgs,
        factory=remove_pods_violating_node_taints.RemovePodsViolatingNodeTaints,
        validate=remove_pods_violating_node_taints.validate_args,
    ),
    _deschedule_plugin(
        name="RevokePodsOverElasticQuota",
        args_type=revoke_pods_over_elastic_quota.RevokePodsOverElasticQuotaArgs,
        factory=revoke_pods_over_elastic_quota.RevokePodsOverElasticQuota,
        validate=revoke_pods_over_elastic_quota.validate_args,
        defaults=revoke_pods_over_elastic_quota.default_args,
        needs=revoke_pods_over_elastic_quota.needs,
        beside=revoke_pods_over_elastic_quota.BESIDE,
    ),
    _balance_plugin(
        name="RemoveDuplicates",
        args_type=remove_duplicates.RemoveDuplicatesArgs,
        factory=remove_duplicates.RemoveDuplicates,
        counts_all_shards=True,
        validate=remove_duplicates.validate_args,
    ),
    _balance_plugin(
        name="RemovePodsViolatingTopologySpreadConstraint",
        args_type=remove_pods_violating_topology_spread_constraint.RemovePodsViolatingTopologySpreadConstraintArgs,
        factory=remove_pods_violating_topology_spread_constraint.RemovePodsViolatingTopologySpreadConstraint,
        counts_all_shards=True,
        validate=remove_pods_violating_topology_spread_constraint.validate_args,
        defaults=remove_pods_violating_topology_spread_constraint.default_args,
    ),
    _balance_plugin(
        name="LowNodeUtilization",
        args_type=low_node_utilization.LowNodeUtilizationArgs,
        factory=low_node_utilization.LowNodeUtilization,
        validate=low_node_utilization.validate_args,
        needs=low_node_utilization.needs,
        samples=low_node_utilization.samples,
        without_limits=low_node_utilization.without_limits,
        construction_problems=low_node_utilization.construction_problems,
    ),
    _balance_plugin(
        name="HighNodeUtilization",
        args_type=high_node_utilization.HighNodeUtilizationArgs,
        factory=high_node_utilization.HighNodeUtilization,
        validate=high_node_utilization.validate_args,
    ),
    _balance_plugin(
        name="LowNodeLoad",
        args_type=low_node_load_args.LowNodeLoadArgs,
        factory=low_node_load.LowNodeLoad,
        defaults=low_node_load_args.default_args,
        construction_problems=low_node_load_pools.construction_problems,
        needs=low_node_load.needs,
        remembers=True,
        native=True,
    ),
    _balance_plugin(
        name="LoadAware",
        args_type=load_aware.LoadAwareArgs,
        factory=load_aware.LoadAware,
        validate=load_aware.validate_args,
        needs=load_aware.needs,
        samples=load_aware.samples,
        samples_address=load_aware.samples_address,
    ),
    _balance_plugin(
        name="Rescheduling",
        args_type=rescheduling.ReschedulingArgs,
        factory=rescheduling.Rescheduling,
        validate=rescheduling.validate_args,
        warnings=rescheduling.warnings,
        needs=rescheduling.needs,
        samples=rescheduling.samples,
        samples_address=rescheduling.samples_address,
    ),
    _balance_plugin(
        name="MigrationPlanner",
        args_type=planner_args.MigrationPlannerArgs,
        factory=MigrationPlanner,
        validate=planner_args.validate_args,
        warnings=planner_args.warnings,
        uses=planner_args.used_strategies,
        profile_problems=planner_args.profile_problems,
        needs=planner_args.needs,
        file_problems=drained_nodes.file_problems,
        cordons=drained_nodes.cordoned_nodes,
        remembers=True,
        searches=True,
    ),
    _balance_plugin(
        name="CustomPriority",
        args_type=custom_priority.CustomPriorityArgs,
        factory=custom_priority.CustomPriority,
        construction_problems=custom_priority.construction_problems,
        warnings=custom_priority.warnings,
        native=True,
    ),
    _balance_plugin(
        name="FragmentationAware",
        args_type=fragmentation_aware.FragmentationAwareArgs,
        factory=fragmentation_aware.FragmentationAware,
        defaults=fragmentation_aware.default_args,
        construction_problems=fragmentation_aware.construction_problems,
        native=True,
    ),
    _balance_plugin(
        name="ScaleDownBinPack",
        args_type=scale_down_bin_pack.ScaleDownBinPackArgs,
        factory=scale_down_bin_pack.ScaleDownBinPack,
        construction_problems=scale_down_bin_pack.construction_problems,
        warnings=scale_down_bin_pack.warnings,
        native=True,
    ),
)


def _admit(spec: PluginSpec[Any], origin: Origin) -> PluginSpec[Any]:
    from descheduler.cycle.foreign.specs import admit_spec  # not for policies without such plugins

    return admit_spec(spec, origin)


REGISTRY: Registry = WithPackages({spec.name: spec for spec in _SPECS}, PLUGIN_GROUP, PluginSpec, _admit)
"""Every plugin this version runs, and those of other packages that a policy names."""
