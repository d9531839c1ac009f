"""The one answer value: a pod may go or stays, with a reason code, a sentence and the object at fault."""

from __future__ import annotations

from enum import Enum

import msgspec

from descheduler.model.eviction_limits import EvictionLimit, ReachedLimit

__all__ = ["ACCEPTED", "Reason", "Verdict", "limit_reached", "refuse"]


class Reason(Enum):
    """Why a pod stays where it is. `value` is the code in documents and metrics; `summary` explains the code."""

    def __new__(cls, code: str, summary: str) -> Reason:
        """A member whose value is its code."""
        member = object.__new__(cls)
        member._value_ = code
        member.summary = summary
        return member

    summary: str

    UNSET = "Unset", "no reason was given; never seen outside a defect of this program"
    MIRROR_POD = "MirrorPod", "a mirror pod shows what a kubelet runs by itself; evicting it changes nothing"
    STATIC_POD = "StaticPod", "a static pod is run by its kubelet, not by the API server"
    TERMINATING = "Terminating", "the pod is being deleted already"
    NO_EVICTION_ANNOTATION = (
        "NoEvictionAnnotation",
        "the pod asks not to be evicted and the policy makes that mandatory",
    )
    SYSTEM_CRITICAL = "SystemCritical", "the pod's priority is that of a system-critical class"
    PRIORITY_THRESHOLD = "PriorityThreshold", "the pod's priority reaches the policy's threshold"
    BARE_POD = "BarePod", "no owner would create the pod again"
    LOCAL_STORAGE = "LocalStorage", "the pod would lose a hostPath or emptyDir volume"
    DAEMON_SET = "DaemonSet", "a DaemonSet puts the pod on this very node again"
    PERSISTENT_VOLUME_CLAIM = "PersistentVolumeClaim", "the pod mounts a claim that the policy protects"
    NO_DISRUPTION_BUDGET = "NoDisruptionBudget", "no PodDisruptionBudget covers the pod and the policy asks for one"
    RESOURCE_CLAIMS = "ResourceClaims", "the pod uses resource claims and the policy protects such pods"
    LABEL_SELECTOR = "LabelSelector", "the evictor's label selector leaves the pod out"
    NAMESPACE = "Namespace", "the policy leaves the pod's namespace out"
    NAMESPACE_LABELS = "NamespaceLabels", "the labels of the pod's namespace do not match the policy"
    TOO_FEW_REPLICAS = "TooFewReplicas", "the pod's owner has too few replicas"
    TOO_YOUNG = "TooYoung", "the pod runs for less than the policy's least age"
    NO_NODE_FITS = "NoNodeFits", "the pod fits on no other node"
    NO_DESTINATION = "NoDestination", "no destination node of the strategy tolerates the pod"
    USAGE_UNKNOWN = "UsageUnknown", "nobody measured what the pod uses"
    LIMIT_REACHED = "LimitReached", "a limit on evictions is reached"
    DISRUPTION_BUDGET = "DisruptionBudget", "a PodDisruptionBudget allows no further disruption"
    SEVERAL_BUDGETS = "SeveralBudgets", "several PodDisruptionBudgets cover the pod; the eviction API refuses such pods"
    MISSING_UID = "MissingUID", "the object has no UID, so it is not a stored pod"
    ALREADY_REQUESTED = "AlreadyRequested", "another controller carries the pod's eviction out already"
    API_REFUSED = "APIRefused", "the API server refused the eviction"
    ALREADY_MIGRATING = "AlreadyMigrating", "a PodMigrationJob moves the pod already"
    SCHEDULER_NAME = "SchedulerName", "the pod's scheduler cannot hold a reservation for it"
    EVICTION_COST = "EvictionCost", "the pod's eviction cost says never"
    WORKLOAD_UNKNOWN = "WorkloadUnknown", "the pod's controller could not be found"
    WORKLOAD_REPLICAS = "WorkloadReplicas", "the workload has too few replicas for its limits"
    WORKLOAD_UNAVAILABLE = "WorkloadUnavailable", "too many pods of the workload are unavailable"
    OUT_OF_SCOPE = "OutOfScope", "the run is limited to other namespaces or labels"
    NO_LANDING = "NoLanding", "no node would take the pod that its owner creates instead"
    CONDITIONAL_LANDING = "ConditionalLanding", "the pod created instead lands only under a condition"
    UNKNOWN_LANDING = "UnknownLanding", "a snapshot cannot tell whether the pod created instead lands"
    RETURNS_TO_SOURCE = "ReturnsToSource", "the scheduler would put the pod created instead on the same node"
    OTHER_LANDING = "OtherLanding", "the scheduler would not put the pod created instead on the node it is meant for"
    MIGRATING_LIMIT = "MigratingLimit", "as many pods as allowed are being migrated"


class Verdict(msgspec.Struct, frozen=True, gc=False):
    """An answer about one pod. `reason` is None exactly when the pod may go; `subject` names the object at fault.

    `reached` is the limit of a refusal for `LIMIT_REACHED`, None of any other.
    """

    reason: Reason | None = None
    message: str = ""
    subject: str = ""
    reached: ReachedLimit | None = None

    @property
    def is_accepted(self) -> bool:
        """Whether the pod may go."""
        return self.reason is None

    @property
    def code(self) -> str:
        """The code of the reason; empty for an acceptance."""
        return "" if self.reason is None else str(self.reason.value)

    @property
    def limit(self) -> EvictionLimit | None:
        """The limit that stands against the eviction; None when it is something else."""
        return None if self.reached is None else self.reached.limit


ACCEPTED = Verdict()


def refuse(reason: Reason, message: str, subject: str = "") -> Verdict:
    """A refusal with its sentence (lower case, no trailing stop) and the object at fault."""
    return Verdict(reason, message, subject)


def limit_reached(limit: EvictionLimit, value: int, scope: str = "") -> Verdict:
    """A refusal by `limit`, whose `value` evictions are used up for the node or namespace `scope`."""
    reached = ReachedLimit(limit, value, scope)
    return Verdict(Reason.LIMIT_REACHED, reached.message, scope, reached)
