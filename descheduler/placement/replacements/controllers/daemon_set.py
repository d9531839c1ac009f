"""DaemonSets: one pod for every node that is to have one, pinned to it by node affinity."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from descheduler.model.node import Node
from descheduler.model.pod import Pod, PodSpec
from descheduler.model.selection.affinity import NodeMatch, match_node
from descheduler.model.selection.taints import NO_EXECUTE, NO_SCHEDULE, Toleration, tolerates_all
from descheduler.placement.replacements.answer import Members, OwnerAnswer, Returns, Situation, is_living, not_created

_NODE_NAME = "metadata.name"
_HOST_NETWORK_TAINT = "node.kubernetes.io/network-unavailable"

DAEMON_TOLERATIONS = tuple(
    Toleration(f"node.kubernetes.io/{name}", "Exists", "", effect)
    for name, effect in (
        ("not-ready", NO_EXECUTE),
        ("unreachable", NO_EXECUTE),
        ("disk-pressure", NO_SCHEDULE),
        ("memory-pressure", NO_SCHEDULE),
        ("pid-pressure", NO_SCHEDULE),
        ("unschedulable", NO_SCHEDULE),
    )
)
"""What the controller adds to every pod (`pkg/controller/daemon/util/daemonset_util.go`); with the network of the host
one more."""


def daemon_set(situation: Situation) -> OwnerAnswer:
    """Created on its own node, unless that is to have no pod, or has another one."""
    name = _node_of(situation.victim)
    node = situation.snapshot.nodes_by_name.get(name)
    if node is None:
        return not_created(f"{situation.name} creates no pod: node {name or 'of the pod'} does not exist")
    cause = _why_none_on(node, situation)
    if cause:
        return not_created(f"{situation.name} creates no pod on node {name}: {cause}")
    on_node = situation.members.once(_by_node).get(name, ())
    others = [pod for pod in on_node if is_living(pod) and pod is not situation.victim]
    if any(all(pod is not left for left in situation.gone) for pod in others):
        return not_created(f"another pod of {situation.name} is on node {name}")
    return OwnerAnswer(Returns.OWN_NODE, is_early=situation.workload.surges, node=name)


def _by_node(members: Members) -> Mapping[str, Sequence[Pod]]:
    """The pods of a DaemonSet by the nodes that they are for."""
    found = defaultdict[str, list[Pod]](list)
    for pod in members.pods:
        found[_node_of(pod)].append(pod)
    return found


def _why_none_on(node: Node, situation: Situation) -> str:
    """Why the node is to have no pod of the DaemonSet; the present template decides."""
    template = situation.workload.template
    spec = situation.victim.spec if template is None else template.spec
    if match_node(spec.node_selector, spec.affinity, node.name, node.labels) is not NodeMatch.MATCHES:
        return "its node selector or node affinity does not match the node"
    tolerations = tuple(_tolerations(spec, situation.victim))
    taints = [taint for taint in node.taints if taint.effect in (NO_SCHEDULE, NO_EXECUTE)]
    against = next((taint for taint in taints if not tolerates_all(tolerations, (taint,))), None)
    return "" if against is None else f"untolerated taint {against.key}:{against.effect}"


def _tolerations(spec: PodSpec, victim: Pod) -> Iterator[Toleration]:
    """The tolerations of the template, and those that the controller adds."""
    yield from spec.tolerations
    yield from DAEMON_TOLERATIONS
    yield from (each for each in victim.spec.tolerations if each.key == _HOST_NETWORK_TAINT)


def _node_of(pod: Pod) -> str:
    """The node that a pod of a DaemonSet is for, whether it is bound or not."""
    affinity = pod.spec.affinity
    if pod.node_name or affinity is None:
        return pod.node_name
    fields = (each for term in affinity.node_required or () for each in term.fields if each.key == _NODE_NAME)
    return next((name for each in fields for name in sorted(each.values)), "")
