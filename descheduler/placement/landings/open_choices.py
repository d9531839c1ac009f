"""Replacements beside pods whose nodes are unknown, as their scheduler's choice is not modelled."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from descheduler.model.pod import Pod
from descheduler.placement.framework.interactions import GatheredPods
from descheduler.placement.framework.scheduler_model import DoubtOf, SchedulerModel
from descheduler.placement.landings.unplaced import UnplacedReplacement
from descheduler.placement.shadow.shadow_cluster import ShadowCluster

_MOST_NODES = 3


class FreePod(NamedTuple):
    """A pod that was placed, the index of its predicted node, and who placed it.

    It is placed for `source`: a pod that is evicted, or the pod itself where it `is_pending`. Any of `ties` is as
    likely as its node.
    """

    pod: Pod
    node: int
    scheduler: SchedulerModel
    source: Pod
    is_pending: bool = False
    ties: tuple[int, ...] = ()

    @property
    def doubt(self) -> str:
        """Why it may have another node than is predicted, or an empty string."""
        is_known = len(self.ties) == 1 and not self.is_pending  # a pending pod's turn is open too
        return "" if is_known else self.scheduler.doubt(self.pod, DoubtOf.CHOICE)


class OpenNodes(NamedTuple):
    """What `cause` comes to: the `nodes` of one replacement by index, any of which it may get.

    Where it `is_certain` it gets one of them, whichever nodes the others get.
    """

    cause: str
    nodes: tuple[int, ...]
    is_certain: bool


def choices_beside(
    others: Sequence[FreePod], unplaced: UnplacedReplacement, node: str, cluster: ShadowCluster
) -> OpenNodes | None:
    """The nodes that `unplaced` may get beside `others`, whose nodes are open; None where all of these are known.

    On `cluster` it is on `node`, and they are where they are predicted. Where pods bear on each other on their own node
    alone, each of them closes one node at most, and none closes a node that takes the pod beside all of them.
    """
    free = [each for each in others if each.doubt]
    if not free:
        return None
    own_node = cluster.table.index[node]
    with _without(free, cluster):
        feasible = unplaced.evaluate(unit_is_begun=True).feasible.copy()
    feasible[own_node] = True
    nodes = tuple(feasible.nonzero()[0].tolist())
    everyone = [FreePod(unplaced.pod, own_node, unplaced.scheduler, unplaced.victim), *others]
    is_enough = len(nodes) > len(free) or _has_room_for_all(nodes, free, unplaced, cluster)
    return OpenNodes(free[0].doubt, nodes, is_enough and not _any_interact(everyone))


def _any_interact(pods: Sequence[FreePod]) -> bool:
    """Whether any of the pods may bear on another one on another node, by the scheduler of either.

    Quotas know no nodes: what they admit does not hang on these choices.
    """
    gathered = GatheredPods([each.pod for each in pods])
    for scheduler in {each.scheduler for each in pods}:
        places = [place for place, each in enumerate(pods) if each.scheduler is scheduler]
        for meetings in scheduler.interacting(gathered, but_for=scheduler.quotas).values():
            if any((meetings.on(place) != place).any() for place in places):
                return True
    return False


def _has_room_for_all(
    nodes: Sequence[int], others: Sequence[FreePod], unplaced: UnplacedReplacement, cluster: ShadowCluster
) -> bool:
    """Whether some node has room for one more such pod beside all `others`; the first ones are tried."""
    if any(map(holds_more_than_room, (unplaced.pod, *(each.pod for each in others)))):
        return False
    return any(_takes_all(node, others, unplaced, cluster) for node in nodes[:_MOST_NODES])


def is_kept_out_by(others: Sequence[FreePod], unplaced: UnplacedReplacement, cluster: ShadowCluster) -> str:
    """Why `unplaced`, which finds no node, may find one if `others` get other nodes; empty where it does not."""
    free = [each for each in others if each.doubt]
    if not free:
        return ""
    with _without(free, cluster):
        return free[0].doubt if unplaced.evaluate().fits else ""


@contextmanager
def _without(pods: Iterable[FreePod], cluster: ShadowCluster) -> Iterator[None]:
    """A context in which none of `pods` is on its node."""
    with cluster.what_if():
        for each in pods:
            cluster.remove(each.pod, each.node)
        yield


def _takes_all(node: int, others: Sequence[FreePod], unplaced: UnplacedReplacement, cluster: ShadowCluster) -> bool:
    """Whether a node has room for one more such pod beside all `others`."""
    with _without(others, cluster):
        for each in others:
            cluster.add(each.pod, node)
        return bool(unplaced.evaluate(unit_is_begun=True).feasible[node])


def holds_more_than_room(pod: Pod) -> bool:
    """Whether it takes what its scheduler hands out one by one, such as volumes or devices."""
    return bool(pod.claim_names or pod.ephemeral_volumes) or any("/" in name for name in pod.spec.requests)
