"""A policy that only makes room: the protections and limits of another one, with MigrationPlanner to select pods."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from descheduler.eviction.placement_verification.placement_verification import scheduling_by_profile
from descheduler.model.koordinator.devices import current_name
from descheduler.planner.args import MigrationPlannerArgs, PlannerObjective
from descheduler.planner.objective_args import PENDING_PODS, MakeRoomArgs
from descheduler.policy.types import PluginConfig, Policy, Profile

_PLANNER = "MigrationPlanner"
_OF_KOORDINATOR = ("koordinator.sh/", "kubernetes.io/batch-", "kubernetes.io/mid-")
"""How the names of resources begin that Koordinator adds to nodes."""

BUILT_IN = {
    "apiVersion": "descheduler/v1alpha2",
    "kind": "DeschedulerPolicy",
    "profiles": [
        {
            "name": "make-room",
            "pluginConfig": [
                {"name": "DefaultEvictor", "args": {"nodeFit": False}},
                {"name": _PLANNER, "args": {"objectives": [{"makeRoom": {}}]}},
                {"name": "PlacementVerification"},
            ],
            "plugins": {
                "balance": {"enabled": [_PLANNER]},
                "preevictionfilter": {"enabled": ["PlacementVerification"]},
            },
        }
    ],
}
"""The policy whose protections and limits hold where none is given."""


def room_policy(policy: Policy, pods: Sequence[str]) -> Policy:
    """`policy` with MigrationPlanner as the only plugin that selects pods, in every profile.

    It makes room for `pods`, as `namespace/name`, or for all pending ones where there are none. Its other arguments, if
    a profile has it already, stay.
    """
    objective = PlannerObjective(make_room=MakeRoomArgs(pods=tuple(pods) or PENDING_PODS))
    return replace(policy, profiles=tuple(_profile(profile, objective) for profile in policy.profiles))


def scheduler_of(policy: Policy, resources: Iterable[str]) -> str:
    """The name of the scheduler that a pod with requests for `resources` waits for.

    It is the one that `policy` verifies landings with, the first where there are several. Without any it is
    koord-scheduler for resources of Koordinator.
    Raises PolicyError for a scheduler's configuration that makes no sense.
    """
    from descheduler.placement.configuration.kube_scheduler.configuration import DEFAULT_SCHEDULER_NAME
    from descheduler.placement.schedulers import koord_scheduler

    found = (settings for _, settings in scheduling_by_profile(policy, None) if settings is not None)
    configurations = (settings.configuration for settings in found if settings.configuration is not None)
    first = next(configurations, None)
    if first is not None:
        return first.profiles[0].scheduler_name
    is_koordinator = any(current_name(resource).startswith(_OF_KOORDINATOR) for resource in resources)
    return koord_scheduler.ROW.name if is_koordinator else DEFAULT_SCHEDULER_NAME


def _profile(profile: Profile, objective: PlannerObjective) -> Profile:
    known = profile.args.get(_PLANNER)
    args = known if isinstance(known, MigrationPlannerArgs) else MigrationPlannerArgs()
    others = (config for config in profile.plugin_configs if config.name != _PLANNER)
    planner = PluginConfig(_PLANNER, replace(args, objectives=(objective,)))
    return replace(profile, plugin_configs=(*others, planner), deschedule=(), balance=(_PLANNER,))
