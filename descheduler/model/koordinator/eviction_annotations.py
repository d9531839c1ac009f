"""Annotations of pods and PodMigrationJobs that evictions hang on (koordinator 1.8, `apis/extension`)."""

from __future__ import annotations

COST_ANNOTATION = "scheduling.koordinator.sh/eviction-cost"
DELETION_COST_ANNOTATION = "controller.kubernetes.io/pod-deletion-cost"
PASSED_ARBITRATION_ANNOTATION = "descheduler.koordinator.sh/passed-arbitration"
CREATED_BY_ANNOTATION = "koordinator.sh/job-created-by"
"""Whose job it is; others leave it alone."""
REASON_ANNOTATION = "koordinator.sh/evict-reason"
TRIGGER_ANNOTATION = "koordinator.sh/evict-trigger"
REPLACEMENT_ANNOTATION = "descheduler/replacement"
"""By what the replacement of the pod is known, as JSON; this program's own."""
PROVIDER_ANNOTATION = "descheduler/reservation-provider"
"""How room is held for the job; this program's own."""
ROOMS_ANNOTATION = "descheduler/rooms"
"""The pending pods for which room is to be held, with the node of each, as JSON; this program's own."""
SURGE_ANNOTATION = "descheduler/surge"
"""Whether and how the workload of the pod is scaled up for the time of the move, as JSON; this program's own."""
TARGET_NODE_ANNOTATION = "descheduler/target-node"
"""The name of the node on which room is to be held for the job; this program's own."""
JOB_ANNOTATIONS = (
    PASSED_ARBITRATION_ANNOTATION,
    CREATED_BY_ANNOTATION,
    PROVIDER_ANNOTATION,
    REASON_ANNOTATION,
    REPLACEMENT_ANNOTATION,
    ROOMS_ANNOTATION,
    SURGE_ANNOTATION,
    TARGET_NODE_ANNOTATION,
    TRIGGER_ANNOTATION,
)
"""Annotations of PodMigrationJobs."""
EVICT_POLICY_LABEL = "koordinator.sh/evict-policy"
"""On pods and jobs: how the pod is to be evicted."""
