"""The one answer value: a pod may go or stays, with a reason code, a sentence, the object at fault or the limit."""

from __future__ import annotations

from enum import Enum

import msgspec

from descheduler.model.shard import WHOLE_CLUSTER, Shard
from descheduler.model.text.counted import counted
from descheduler.model.text.numbers import share_of


class EvictionLimit(Enum):
    """A limit on evictions; `value` is its key in the policy and `scope_kind` what it is counted for."""

    def __new__(cls, key: str, scope_kind: str) -> EvictionLimit:
        """A member whose value is its key."""
        member = object.__new__(cls)
        member._value_ = key
        member.scope_kind = scope_kind
        return member

    scope_kind: str

    TOTAL = "maxNoOfPodsToEvictTotal", ""
    NODE = "maxNoOfPodsToEvictPerNode", "node"
    NAMESPACE = "maxNoOfPodsToEvictPerNamespace", "namespace"
    PLUGIN_NODE = "evictionLimits.node", "node"
    PLUGIN_TOTAL = "maxPodsToEvict", ""


class LimitReached(msgspec.Struct, frozen=True, gc=False):
    """A limit of `value` evictions that is used up for the node or namespace `scope`; "" where there is no one such.

    A limit that is a `percentage` in the policy, such as `10%`, is one of `num_pods`; "" where it is a number there.
    Where shards divide it, `value` is the share of `shard`, and `of_all` the limit.
    """

    limit: EvictionLimit
    value: int
    scope: str = ""
    percentage: str = ""
    num_pods: int = 0
    shard: str = ""
    of_all: int = 0

    @classmethod
    def of(
        cls,
        limit: EvictionLimit,
        written: int | str,
        scope: str = "",
        *,
        num_pods: int = 0,
        shard: Shard = WHOLE_CLUSTER,
    ) -> LimitReached:
        """The limit as `written` in the policy: a number, or a percentage of `num_pods`; of it the share of `shard`."""
        most = share_of(written, num_pods)
        percentage, num_pods = ("", 0) if isinstance(written, int) else (written, num_pods)
        if shard.is_whole:
            return cls(limit, most, scope, percentage, num_pods)
        return cls(limit, shard.share(most, scope), scope, percentage, num_pods, str(shard), most)

    @property
    def written(self) -> str:
        """The value: `5`, or with a percentage `10%: 3 of 30 pods`."""
        most = self.of_all if self.shard else self.value
        written = f"{self.percentage}: {most} of {counted(self.num_pods, 'pod')}" if self.percentage else str(most)
        return f"{written}, {self.value} for {self.shard}" if self.shard else written

    @property
    def message(self) -> str:
        """Such as `maxNoOfPodsToEvictPerNode (5) reached for node a`; with a percentage `(10%: 3 of 30 pods)`."""
        said = f"{self.limit.value} ({self.written}) reached"
        return f"{said} for {self.limit.scope_kind} {self.scope}" if self.scope else said


class Reason(Enum):
    """Why a pod is not evicted. `code` is what documents and metrics call it; `summary` explains the code."""

    def __new__(cls, code: str, summary: str) -> Reason:
        """A member whose value is its code."""
        member = object.__new__(cls)
        # `value` is worked out anew whenever it is asked for, which is several times for every pod that stays.
        member._value_ = member.code = code
        member.summary = summary
        return member

    code: str
    summary: str

    UNSET = "Unset", "no reason was given; this is a defect of this program"
    MIRROR_POD = "MirrorPod", "the pod is the mirror pod of a static pod; evicting it has no effect"
    STATIC_POD = "StaticPod", "the pod is a static pod, run by its kubelet"
    TERMINATING = "Terminating", "the pod is being deleted"
    NO_EVICTION_ANNOTATION = (
        "NoEvictionAnnotation",
        "the pod's annotation prefers no eviction (noEvictionPolicy: Mandatory)",
    )
    SYSTEM_CRITICAL = "SystemCritical", "the pod has a system-critical priority"
    PRIORITY_THRESHOLD = "PriorityThreshold", "the pod's priority is not below the policy's threshold"
    BARE_POD = "BarePod", "the pod has no owner that recreates it"
    LOCAL_STORAGE = "LocalStorage", "the pod has local storage (a hostPath or emptyDir volume)"
    DAEMON_SET = "DaemonSet", "the pod belongs to a DaemonSet"
    PERSISTENT_VOLUME_CLAIM = "PersistentVolumeClaim", "the pod mounts a PersistentVolumeClaim that the policy protects"
    NO_DISRUPTION_BUDGET = "NoDisruptionBudget", "no PodDisruptionBudget covers the pod, and the policy requires one"
    DO_NOT_DISRUPT = (
        "DoNotDisrupt",
        "an annotation of the pod asks autoscalers not to evict it, and the policy protects such pods",
    )
    RESOURCE_CLAIMS = "ResourceClaims", "the pod uses resource claims, and the policy protects such pods"
    LABEL_SELECTOR = "LabelSelector", "the pod's labels do not match the labelSelector of the evictor plugin"
    NAMESPACE = "Namespace", "the policy excludes the pod's namespace"
    NAMESPACE_LABELS = "NamespaceLabels", "the labels of the pod's namespace do not match namespaceLabelSelector"
    TOO_FEW_REPLICAS = "TooFewReplicas", "the pod's owner has fewer pods than minReplicas"
    TOO_YOUNG = "TooYoung", "the pod is younger than minPodAge"
    NO_NODE_FITS = "NoNodeFits", "the pod does not fit on any other node"
    NO_DESTINATION = "NoDestination", "the pod does not tolerate the taints of any destination node"
    USAGE_UNKNOWN = "UsageUnknown", "the usage of the pod is not measured"
    IRREDUCIBLE_SHORTAGE = (
        "IrreducibleShortage",
        "pods that cannot be evicted already request more than the node's reservation leaves",
    )
    TOO_FEW_OBSERVATIONS = (
        "TooFewObservations",
        "the reservation of the node is not violated in enough runs in a row yet",
    )
    LIMIT_REACHED = "LimitReached", "an eviction limit of the policy is reached"
    DISRUPTION_BUDGET = "DisruptionBudget", "the PodDisruptionBudget of the pod allows no disruption now"
    RESOURCE_QUOTA = (
        "ResourceQuota",
        "a ResourceQuota has no room for the placeholder of the pod (reservationProvider: placeholder), or for the"
        " second pod of its workload (singleReplicas: Surge)",
    )
    GANG_MINIMUM = (
        "GangMinimum",
        "the gang of the pod would have fewer running pods than it needs (minMember), and is not evicted as a whole"
        " (onGangMinimum)",
    )
    NOT_PREEMPTABLE = (
        "NotPreemptable",
        "Volcano never evicts the pod: volcano.sh/preemptable is not true, or the pod belongs to the system",
    )
    TASK_COOLDOWN = "TaskCooldown", "the pod was scheduled less than its volcano.sh/cooldown-time ago"
    POD_GROUP_PHASE = "PodGroupPhase", "the PodGroup of the pod is not in phase Running, so its job has not started"
    QUEUE_NOT_OPEN = "QueueNotOpen", "the queue of the pod's job is not open, so Volcano does not admit the job again"
    JOB_LIFECYCLE = (
        "JobLifecycle",
        "a policy of the Volcano Job of the pod restarts or ends the whole job when one of its pods is evicted",
    )
    JOB_DISRUPTION_BUDGET = (
        "JobDisruptionBudget",
        "the PodGroup of the pod allows no disruption now (volcano.sh/jdb-min-available, jdb-max-unavailable)",
    )
    SEVERAL_BUDGETS = (
        "SeveralBudgets",
        "more than one PodDisruptionBudget covers the pod; the eviction API refuses such pods",
    )
    NAMESPACE_TERMINATING = (
        "NamespaceTerminating",
        "the namespace of the pod is being deleted; the API server refuses evictions in it",
    )
    CLAIM_TERMINATING = "ClaimTerminating", "a resource claim of the pod is being deleted"
    NO_EXECUTE = (
        "NoExecute",
        "a device of the pod has a taint of effect NoExecute, for which kube-controller-manager deletes the pod itself",
    )
    MISSING_UID = "MissingUID", "the pod has no UID, so the API server does not store it"
    ALREADY_REQUESTED = "AlreadyRequested", "another controller already evicts the pod"
    API_REFUSED = "APIRefused", "the API server refused the eviction"
    ALREADY_MIGRATING = "AlreadyMigrating", "a PodMigrationJob already migrates the pod"
    SCHEDULER_NAME = (
        "SchedulerName",
        "the pod's scheduler does not support Reservations; set reservationProvider: placeholder or defaultJobMode:"
        " EvictDirectly of MigrationController",
    )
    EVICTION_COST = "EvictionCost", "the eviction cost of the pod forbids its eviction"
    WORKLOAD_UNKNOWN = "WorkloadUnknown", "the controller of the pod was not found"
    WORKLOAD_REPLICAS = (
        "WorkloadReplicas",
        "the workload has no more replicas than may be evicted at once (skipCheckExpectedReplicas: false)",
    )
    WORKLOAD_UNAVAILABLE = "WorkloadUnavailable", "too many pods of the workload are unavailable"
    NOT_SELECTED = "NotSelected", "the plugin that a plan names for the pod does not select it any more (apply)"
    OUT_OF_SCOPE = "OutOfScope", "the run is limited to other namespaces or labels (-n, -l)"
    OTHER_SHARD = "OtherShard", "the node of the pod belongs to another shard (--shards)"
    SHARD_SHARE = "ShardShare", "the shard has used up its share of a limit or budget that all shards divide (--shards)"
    OWNER_FAILS = "OwnerFails", "the eviction would fail or end the Job of the pod, or its index"
    NO_LANDING = "NoLanding", "the replacement pod cannot be scheduled onto any node"
    ELASTIC_QUOTA = "ElasticQuota", "the elastic quota of the replacement pod has no room for it"
    CONDITIONAL_LANDING = (
        "ConditionalLanding",
        "the replacement pod can be scheduled only under a condition (onConditional: refuse; with allow it is evicted)",
    )
    ORDER_DEPENDENT = (
        "OrderDependentLanding",
        "with the other replacement pods of the run, their order decides whether all of them can be scheduled",
    )
    UNKNOWN_LANDING = (
        "UnknownLanding",
        "it is unknown whether a replacement pod is created, or can be scheduled (onUnknown: refuse; with allow it is"
        " evicted)",
    )
    RETURNS_TO_SOURCE = "ReturnsToSource", "the replacement pod would be scheduled onto the same node again"
    SELECTED_AGAIN = (
        "SelectedAgain",
        "the plugin would select the replacement pod again for the same cause (requireGain)",
    )
    OTHER_LANDING = "OtherLanding", "the replacement pod would be scheduled onto another node than intended"
    NO_GAIN = "NoGain", "the pods for which the plan would make room would still be pending"
    DRY_RUN = "DryRun", "the arguments of the plugin say dryRun, so it evicts nothing"
    WINDOW = "Window", "the profile evicts nothing outside its windows"
    BLACKOUT = "Blackout", "the profile evicts nothing during a blackout"
    COOLDOWN = "Cooldown", "an earlier run has evicted a pod of the same workload a short while ago (cooldown)"
    MOVES_PER_WINDOW = "MovesPerWindow", "runs have evicted maxMovesPerWindow pods of the workload within the window"
    PING_PONG = (
        "PingPong",
        "the replacement pod would be scheduled onto the node that its predecessor was evicted from a short while ago"
        " (refuseReturn)",
    )
    TOO_LARGE = "TooLarge", "the requests of the pod exceed what any other node can allocate (refuseTooLarge)"
    MIGRATING_LIMIT = "MigratingLimit", "the limit on pods that migrate at the same time is reached"
    PLUGIN_FAILED = (
        "PluginFailed",
        "a filter of another package failed, so it is unknown whether the pod can be evicted",
    )


class BudgetRefusal(msgspec.Struct, frozen=True):
    """How the eviction API refuses for a budget: HTTP status, text of its cause, and the Retry-After header in seconds,
    None without one."""

    code: int
    cause: str
    retry_after_seconds: int | None = None


class Verdict(msgspec.Struct, frozen=True, gc=False):
    """An answer about one pod. `reason` is None exactly when the pod may go; `subject` names the object at fault.

    `reached` is the limit of a refusal for `LIMIT_REACHED`, None of any other. `api_refusal` is what the eviction API
    would answer, where a budget is why the pod stays.
    """

    reason: Reason | None = None
    message: str = ""
    subject: str = ""
    reached: LimitReached | None = None
    api_refusal: BudgetRefusal | None = None

    @property
    def is_accepted(self) -> bool:
        """Whether the pod may go."""
        return self.reason is None

    @property
    def code(self) -> str:
        """The code of the reason; empty for an acceptance."""
        return "" if self.reason is None else self.reason.code

    @property
    def limit(self) -> EvictionLimit | None:
        """The limit that blocks the eviction; None when it is something else."""
        return None if self.reached is None else self.reached.limit


ACCEPTED = Verdict()


def refuse(reason: Reason, message: str, subject: str = "") -> Verdict:
    """A refusal with its sentence (lower case, no trailing stop) and the object at fault."""
    return Verdict(reason, message, subject)


def limit_reached(reached: LimitReached) -> Verdict:
    """A refusal by a limit that is used up."""
    return Verdict(Reason.LIMIT_REACHED, reached.message, reached.scope, reached)
