"""Arguments of `InterPodAffinity`, as in Kubernetes 1.36."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from descheduler.placement.configuration.kube_scheduler.plugin_args import ArgsBlock, ArgsKind, Percent
from descheduler.policy.shared_args import Args

__all__ = ["ARGS", "InterPodAffinityArgs"]


class InterPodAffinityArgs(msgspec.Struct, frozen=True):
    """How the affinity of existing pods counts in scoring."""

    hard_pod_affinity_weight: int = 1
    """Weight, 0 to 100, of a required affinity term of an existing pod that the incoming pod matches."""
    ignores_preferred_terms_of_existing_pods: bool = False
    """Whether an incoming pod without preferred terms is not scored at all."""


class InterPodAffinitySection(Args, frozen=True):
    """`InterPodAffinityArgs`."""

    hard_pod_affinity_weight: Percent = 1
    """0 to 100: what a required affinity of an existing pod counts for when it means the incoming one."""
    ignore_preferred_terms_of_existing_pods: bool = False
    """Whether pods without preferred terms of their own are not scored at all."""


def _read(block: ArgsBlock, section: InterPodAffinitySection) -> InterPodAffinityArgs:
    del block
    return InterPodAffinityArgs(section.hard_pod_affinity_weight, section.ignore_preferred_terms_of_existing_pods)


def _shown(args: InterPodAffinityArgs) -> Mapping[str, object]:
    return {
        "hardPodAffinityWeight": args.hard_pod_affinity_weight,
        "ignorePreferredTermsOfExistingPods": args.ignores_preferred_terms_of_existing_pods,
    }


ARGS = ArgsKind(InterPodAffinitySection, _read, InterPodAffinityArgs, _shown)
