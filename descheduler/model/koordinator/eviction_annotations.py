"""Annotations of pods and PodMigrationJobs that evictions hang on (koordinator 1.8, `apis/extension`)."""

from __future__ import annotations

__all__ = ["COST_ANNOTATION", "DELETION_COST_ANNOTATION", "PASSED_ARBITRATION_ANNOTATION"]

COST_ANNOTATION = "scheduling.koordinator.sh/eviction-cost"
DELETION_COST_ANNOTATION = "controller.kubernetes.io/pod-deletion-cost"
PASSED_ARBITRATION_ANNOTATION = "descheduler.koordinator.sh/passed-arbitration"
