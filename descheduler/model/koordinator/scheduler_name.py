"""Which scheduler a pod waits for."""

from __future__ import annotations

from descheduler.model.pod import Pod

_LABEL = "scheduling.koordinator.sh/scheduler-name"
_DEFAULT = "default-scheduler"


def scheduler_name_of(pod: Pod) -> str:
    """The scheduler that `spec.schedulerName` names, unless Koordinator's label names another.

    Koordinator's informers put the name of the label into the spec, so that koord-scheduler and koord-descheduler see
    no other. Source: koordinator 1.8 `pkg/util/transformer/pod_transformer.go`.
    """
    return pod.labels.get(_LABEL) or pod.spec.scheduler_name or _DEFAULT
