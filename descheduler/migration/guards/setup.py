"""The guards that the MigrationControllers of a policy ask for."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Any

from descheduler.eviction.migration_controller.profiles import migration_controllers
from descheduler.kube.client import KubeClient
from descheduler.kube.objects import ObjectCalls
from descheduler.migration.guards.guard import Guard, NotReadyNodes, RisingPending
from descheduler.migration.guards.health import Health, read_health
from descheduler.migration.guards.watchman import ApiErrors, Watchman
from descheduler.policy.types import Policy

__all__ = ["make_watchman"]


def make_watchman(
    policy: Policy,
    client: KubeClient,
    submit: Callable[[Callable[[], Health]], Future[Any]],
    clock: Callable[[], float],
) -> Watchman | None:
    """What looks after the cluster for a run of `policy`; None for one without a MigrationController.

    `submit` has the cluster looked at in the background. Of several profiles each has its guards; the strictest share
    of errors and the shortest interval hold.
    """
    asked = [args.guards for args in migration_controllers(policy).values()]
    if not asked:
        return None
    guards: list[Guard] = []
    for each in asked:
        guards += [RisingPending(each.max_pending_pods_increase), NotReadyNodes(each.max_not_ready_nodes)]
    counts_pods = any(isinstance(each.max_pending_pods_increase, str) for each in asked)
    return Watchman(
        partial(read_health, ObjectCalls(client), counts_pods=counts_pods),
        guards,
        ApiErrors(min(int(each.max_api_error_rate.removesuffix("%")) for each in asked)),
        submit=submit,
        clock=clock,
        period_seconds=min(each.interval.total_seconds() for each in asked),
    )
