"""What a pod asks of CPUs (koordinator 1.8 `plugin.go`, PreFilter)."""

from __future__ import annotations

from typing import NamedTuple

from descheduler.cluster.decoding.koordinator.cpu_annotations import decode_cpu_spec, decode_numa_policy
from descheduler.model.annotations import CPU_SPEC_ANNOTATION, NUMA_SPEC_ANNOTATION
from descheduler.model.koordinator.classes import KoordinatorPriority, priority_class
from descheduler.model.pod import Pod
from descheduler.model.quantity import ceil_milli
from descheduler.model.requests import CPU
from descheduler.placement.plugins.node_numa_resource.cpu_map import FULL_CORES, SPREAD

__all__ = ["MILLI", "PodCpus", "cpus_asked", "shares_cpus"]

MILLI = 1000
"""Units of the node table in a CPU."""
_QOS_LABEL = "koordinator.sh/qosClass"
_PINNED_QOS = ("LSE", "LSR")


class PodCpus(NamedTuple):
    """`milli` is requested; where `is_pinned`, that many CPUs are the pod's own, chosen by `policy`.

    `required` is a policy that the pod insists on, "" for none, `exclusive` its policy towards others like it.
    `numa_policy` is what it asks of NUMA nodes, "" for nothing.
    """

    milli: int
    is_pinned: bool
    policy: str
    required: str
    exclusive: str
    numa_policy: str

    @property
    def number(self) -> int:
        """How many CPUs those are."""
        return self.milli // MILLI

    @property
    def is_whole(self) -> bool:
        """Whether that is a whole number."""
        return self.milli % MILLI == 0


def cpus_asked(pod: Pod, default_policy: str) -> PodCpus:
    """What `pod` asks for; by `default_policy` where it does not say how. Raises ValueError for bad annotations."""
    spec = decode_cpu_spec(pod.annotations.get(CPU_SPEC_ANNOTATION, ""))
    numa_policy = decode_numa_policy(pod.annotations.get(NUMA_SPEC_ANNOTATION, ""))
    milli = ceil_milli(pod.spec.requests.get(CPU, 0))
    preferred = default_policy if spec.preferred in ("", "Default") else spec.preferred
    required = default_policy if spec.required == "Default" else spec.required
    policy = required or preferred
    is_pinned = _may_be_pinned(pod) and policy in (FULL_CORES, SPREAD) and milli > 0
    if not is_pinned:
        return PodCpus(milli, False, "", "", "", numa_policy)
    return PodCpus(milli, True, policy, required, spec.exclusive, numa_policy)


def shares_cpus(pod: Pod) -> bool:
    """Whether `pod` certainly asks for nothing but a part of the CPUs that all share."""
    return NUMA_SPEC_ANNOTATION not in pod.annotations and not _may_be_pinned(pod)


def _may_be_pinned(pod: Pod) -> bool:
    return pod.labels.get(_QOS_LABEL) in _PINNED_QOS and priority_class(pod) is KoordinatorPriority.PROD
