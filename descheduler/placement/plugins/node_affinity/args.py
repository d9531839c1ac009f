"""Arguments of `NodeAffinity`, as in Kubernetes 1.36."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from descheduler.model.selection.affinity import Affinity
from descheduler.placement.configuration.kube_scheduler.plugin_args import ArgsBlock, ArgsKind
from descheduler.placement.plugins.node_affinity.added_affinity import NodeAffinitySection, read_added_affinity
from descheduler.policy.shared_args import Args

__all__ = ["ARGS", "NodeAffinityArgs"]


class NodeAffinityArgs(msgspec.Struct, frozen=True):
    """Node affinity that holds for every pod of the profile on top of its own.

    Only the node terms of `added_affinity` are set, and none of them has an error. Preferred terms that can have no
    effect, being empty or of weight 0, are left out.
    """

    added_affinity: Affinity | None = None


class NodeAffinityArgsSection(Args, frozen=True):
    """`NodeAffinityArgs`."""

    added_affinity: NodeAffinitySection | None = None
    """Holds for every pod of the profile, beside its own."""


def _read(block: ArgsBlock, section: NodeAffinityArgsSection) -> NodeAffinityArgs | None:
    if section.added_affinity is None:
        return None
    return NodeAffinityArgs(read_added_affinity(block.checks, section.added_affinity, (*block.path, "addedAffinity")))


def _shown(args: NodeAffinityArgs) -> Mapping[str, object]:
    return {"addedAffinity": args.added_affinity is not None}


ARGS = ArgsKind(NodeAffinityArgsSection, _read, NodeAffinityArgs, _shown)
