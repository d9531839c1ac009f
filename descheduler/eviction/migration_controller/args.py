"""Arguments of MigrationController; `args_checks` says what is wrong with them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, TypeVar

import msgspec

from descheduler.eviction.migration_controller.room_provider import RoomProvider
from descheduler.model.koordinator.migration_job import MIGRATION_JOB_KIND
from descheduler.policy.plugin import Needs
from descheduler.policy.shared_args import (
    Args,
    Int32,
    Int32OrPercent,
    Int64,
    LabelSelectorArg,
    Namespaces,
    PriorityThreshold,
    one_of,
)

T = TypeVar("T")

EVICTION_GATES = (
    "MaxUnavailablePerWorkload",
    "MaxMigratingPerWorkload",
    "MaxMigratingPerNode",
    "MaxMigratingPerNamespace",
    "MaxMigratingGlobally",
    "ExpectedReplicas",
    "PVC",
    "BarePods",
    "LocalStorage",
    "SystemCritical",
    "PriorityThreshold",
    "LabelSelector",
    "Namespaces",
    "NodeFit",
)
"""Checks that `skipEvictionGates` can remove."""
JOB_MODES = ("ReservationFirst", "EvictDirectly")
EVICTION_POLICIES = ("Eviction", "Delete", "SoftEviction")
"""How Koordinator evicts."""
RESERVATION_PROVIDERS = tuple(each.value for each in RoomProvider)
SINGLE_REPLICAS = ("Evict", "Surge")


class Preconditions(Args, frozen=True):
    """What must still hold for an object to be deleted."""

    uid: str | None = None
    """Read, and without effect: the UID of the pod in the snapshot is always required."""
    resource_version: str | None = None
    """Read, and without effect."""


class DeleteOptions(Args, frozen=True):
    """Options of the eviction or deletion call (`metav1.DeleteOptions`)."""

    grace_period_seconds: Int64 | None = None
    """Seconds that the pod has to terminate; its own grace period when unset."""
    preconditions: Preconditions | None = None
    """Read, and without effect."""
    orphan_dependents: bool | None = None
    """Read, and without effect."""
    propagation_policy: str | None = None
    """Read, and without effect."""
    dry_run: tuple[str, ...] = ()
    """Read, and without effect; see `dryRun` of the controller."""


class MigrationObjectLimiter(Args, frozen=True):
    """How many migrations of one workload or namespace may start within `duration`; zero duration switches it off."""

    duration: timedelta = timedelta(0)
    """Zero switches the limiter off."""
    max_migrating: int | str | None = None
    """A number, or a percentage of the replicas such as `10%`; automatic when unset. For namespaces it
    must be a number."""
    burst: Int32OrPercent = 0
    """Migrations that one run may start for each workload or namespace; 1 when unset. A percentage is one of the
    replicas of the workload, or of the pods of the namespace."""


class MoveHistoryArgs(Args, frozen=True):
    """How workloads that runs have moved are left alone for a while; for that, runs remember their evictions."""

    window: timedelta = timedelta(hours=1)
    """How far back evictions count for `maxMovesPerWindow` and `refuseReturn`; at most 168h."""
    cooldown: timedelta = timedelta(minutes=10)
    """How long after an eviction later runs evict no pod of the same workload; 0 switches it off, and it is not longer
    than `window`. Evictions of the same run do not start it."""
    max_moves_per_window: Int32OrPercent | None = None
    """Pods of one workload that may be evicted within `window`, those of the same run included; no limit when unset. A
    percentage is one of the replicas."""
    refuse_return: bool = True
    """Whether a pod is not evicted whose replacement would be scheduled onto the node that a pod of its workload was
    evicted from within `window`, when that pod's replacement came to the node of this one; it takes
    PlacementVerification."""
    refuse_too_large: bool = True
    """Whether plugins that balance nodes leave pods alone whose CPU, memory or ephemeral storage no other node could
    hold even when empty."""


class TimeWindowArgs(Args, frozen=True):
    """A time that recurs."""

    cron: str = ""
    """Required. When it begins: minute, hour, day of month, month and day of week, as a CronJob has them."""
    duration: timedelta = timedelta(0)
    """Required. How long it lasts, such as `8h`; at most 168h."""
    time_zone: str = ""
    """Name in the IANA database, such as `Europe/Berlin`; UTC when empty."""


class ArbitrationArgs(Args, frozen=True):
    """How waiting migrations are put in order."""

    enabled: bool = False
    """Read, and without effect: migrations are always arbitrated."""
    interval: timedelta | None = None
    """Read, and without effect: one run arbitrates once."""


class GuardArgs(Args, frozen=True):
    """When a live run stops, with exit code 4. All are this program's own."""

    max_pending_pods_increase: Int32OrPercent = 10
    """How many more pods than before the first eviction can be unschedulable; a percentage is one of all pods."""
    max_not_ready_nodes: int | str = "20%"
    """How many nodes can be NotReady, a number or a percentage of all nodes."""
    max_api_error_rate: str = msgspec.field(name="maxAPIErrorRate", default="50%")
    """Percentage of the last 50 API calls that can get no answer or a status from 500 on."""
    interval: timedelta = timedelta(seconds=30)
    """How often nodes and pending pods are listed while pods are evicted."""


class MigrationControllerArgs(Args, frozen=True):
    """Arguments of MigrationController.

    Source: koordinator-sh/koordinator 1.8 `pkg/descheduler/apis/config/v1alpha2/types_pluginargs.go`;
    `allowedEvictionPolicies`, `reservationProvider`, `singleReplicas`, `moveHistory`, `windows` and `blackouts` are
    this program's own.
    """

    dry_run: bool = False
    """Whether the profile evicts nothing; its evictions are planned last and shown."""
    max_concurrent_reconciles: Int32 | None = None
    """Read, and without effect."""
    evict_failed_bare_pods: bool = False
    """Whether failed pods without owner can be evicted."""
    evict_all_bare_pods: bool = False
    """Whether pods without owner can be evicted in any phase."""
    evict_local_storage_pods: bool = False
    """Whether pods with hostPath or emptyDir volumes can be evicted."""
    evict_system_critical_pods: bool = False
    """Whether system-critical pods can be evicted; switches `priorityThreshold` off too."""
    ignore_pvc_pods: bool = False
    """Whether pods that mount a PersistentVolumeClaim are protected."""
    priority_threshold: PriorityThreshold | None = None
    """Pods from this priority on are protected."""
    label_selector: LabelSelectorArg | None = None
    """Only pods with these labels can be evicted."""
    namespaces: Namespaces | None = None
    """Only pods of these namespaces can be evicted."""
    node_fit: bool = False
    """Whether only pods that some other node has room for can be evicted."""
    node_selector: str = ""
    """Nodes that `nodeFit` considers."""
    skip_eviction_gates: tuple[Annotated[str, one_of(EVICTION_GATES)], ...] = ()
    """Checks to leave out, such as `ExpectedReplicas`, `NodeFit` or `PVC`."""
    max_migrating_globally: Int32OrPercent | None = None
    """Pods that can migrate at the same time; 0 means unlimited, here and in the next two. A percentage such as `10%`
    is one of all pods that have not finished, rounded down, and at least 1."""
    max_migrating_per_node: Int32OrPercent | None = None
    """Pods of one node that can migrate at the same time; a percentage is one of the pods of the node."""
    max_migrating_per_namespace: Int32OrPercent | None = None
    """Pods of one namespace that can migrate at the same time; a percentage is one of the pods of the namespace."""
    max_migrating_per_workload: int | str | None = None
    """Pods of one workload that can migrate at the same time; automatic when unset, else a number or percentage."""
    max_unavailable_per_workload: int | str | None = None
    """Pods of one workload that can be unavailable or migrating; as above."""
    skip_check_expected_replicas: bool | None = None
    """Whether pods of workloads so small that all replicas could be away at once can be evicted."""
    object_limiters: Mapping[str, MigrationObjectLimiter] = msgspec.field(default_factory=dict)
    """Limits of how many migrations start, by `workload` and by `namespace`."""
    default_job_mode: Annotated[str, one_of(JOB_MODES)] = ""
    """`ReservationFirst` or `EvictDirectly`."""
    default_job_ttl: timedelta | None = msgspec.field(name="defaultJobTTL", default=None)
    """How long a job may take, from its creation; 0 means no time limit."""
    scheduler_names: tuple[str, ...] = ()
    """Schedulers that support Reservations."""
    evict_qps: float | str | None = msgspec.field(name="evictQPS", default=None)
    """Evictions a second, a number or a text that holds one."""
    evict_burst: Int32 | None = None
    """Evictions that may be made at once."""
    eviction_policy: Annotated[str, one_of(EVICTION_POLICIES)] = ""
    """How pods are made to leave: `Eviction`, `Delete` (past disruption budgets) or `SoftEviction` (an annotation asks
    another program to). Pods that are evicted without a job leave through the eviction API in each case."""
    allowed_eviction_policies: tuple[Annotated[str, one_of(EVICTION_POLICIES)], ...] = ()
    """Which of these the label `koordinator.sh/evict-policy` of a pod or PodMigrationJob can choose in place of
    `evictionPolicy`; none when empty. All three is the behaviour of koord-descheduler: whoever can label a pod can then
    have it deleted past disruption budgets."""
    default_delete_options: DeleteOptions | None = None
    """Options of the eviction call."""
    arbitration_args: ArbitrationArgs | None = None
    """How waiting migrations are put in order."""
    reservation_provider: Annotated[str, one_of(RESERVATION_PROVIDERS)] = ""
    """How room is held: `koordinator` (Reservations), `placeholder` (a pause pod) or `none`; unset, by Reservations
    where the cluster has them."""
    single_replicas: Annotated[str, one_of(SINGLE_REPLICAS)] = ""
    """How the only pod of a Deployment or ReplicaSet is moved: `Evict` (default, as all others) or `Surge` (the
    workload is scaled to 2 replicas until a second pod is available, and then back to 1)."""
    move_history: MoveHistoryArgs | None = None
    """Leaves workloads alone that runs have moved a short while ago; unset, earlier runs do not matter. `{}` takes the
    defaults."""
    windows: tuple[TimeWindowArgs, ...] = ()
    """When the profile may evict; always when empty. Outside it plans, and evicts nothing."""
    blackouts: tuple[TimeWindowArgs, ...] = ()
    """When the profile evicts nothing, also inside `windows`."""
    guards: GuardArgs = GuardArgs()
    """When a live run stops."""

    @property
    def surges(self) -> bool:
        """Whether workloads with one replica are scaled up while their pod moves."""
        return self.single_replicas == SINGLE_REPLICAS[1]


def creates_reservations(args: MigrationControllerArgs) -> bool:
    """Whether Reservations hold room for all pods, whatever the cluster offers."""
    provider = _provider_of_all(args)
    return provider is not None and provider.needs_koordinator


def creates_placeholders(args: MigrationControllerArgs) -> bool:
    """Whether placeholders hold room for all pods."""
    provider = _provider_of_all(args)
    return provider is not None and provider.makes_pods


def _provider_of_all(args: MigrationControllerArgs) -> RoomProvider | None:
    return RoomProvider.named(args.reservation_provider) if args.default_job_mode == JOB_MODES[0] else None


def default_args(args: MigrationControllerArgs) -> MigrationControllerArgs:
    """`args` with every unset field that has a default filled in."""
    arbitration = args.arbitration_args or ArbitrationArgs(enabled=True)
    if arbitration.interval is None:
        arbitration = msgspec.structs.replace(arbitration, interval=timedelta(milliseconds=500))
    return msgspec.structs.replace(
        args,
        max_concurrent_reconciles=_or(args.max_concurrent_reconciles, 1),
        max_migrating_per_node=_or(args.max_migrating_per_node, 2),
        default_job_mode=args.default_job_mode or "ReservationFirst",
        default_job_ttl=args.default_job_ttl if args.default_job_ttl is not None else timedelta(minutes=5),
        scheduler_names=args.scheduler_names or ("koord-scheduler",),
        eviction_policy=args.eviction_policy or "Eviction",
        evict_qps=10.0 if args.evict_qps is None else args.evict_qps,
        evict_burst=_or(args.evict_burst, 1),
        object_limiters=args.object_limiters or {"workload": MigrationObjectLimiter(duration=timedelta(minutes=5))},
        arbitration_args=arbitration,
    )


def _or(value: T | None, default: T) -> T:
    return default if value is None else value


def needs(args: MigrationControllerArgs) -> Needs:
    """What the filter reads: jobs in progress, the workloads whose replicas it counts, and what limits further pods."""
    workloads = (
        "ReplicaSet.apps",
        "Deployment.apps",
        "StatefulSet.apps",
        "ReplicationController",
        "CloneSet.apps.kruise.io",
    )
    quotas = ("ResourceQuota",) if creates_placeholders(args) or args.surges else ()
    return Needs(frozenset((MIGRATION_JOB_KIND, *workloads, *quotas)))
