"""ReplicaSets, ReplicationControllers and CloneSets: any pod is as good as another.

They count their pods, and replace at once what is missing. A ReplicaSet makes pods of its own template, also while its
Deployment rolls out another one. What they do about pods beyond `replicas` is a race: they may choose which to delete
before they see the eviction, and replace the evicted one as well.
"""

from __future__ import annotations

from descheduler.model.groups.workloads import Workload
from descheduler.placement.replacements.answer import OwnerAnswer, Returns, Situation, is_living, not_created

_SURPLUS = "the owner has more pods than replicas, and can delete others instead"
_DEPLOYMENT_GOES = "the Deployment is being deleted, and its ReplicaSet may replace the pod before that"


def replica_set(situation: Situation) -> OwnerAnswer:
    """Created at once, as far as there are no more pods than wanted."""
    workload, deployment = situation.workload, _deployment_of(situation)
    if _lacks_deployment(situation, deployment):
        return OwnerAnswer(Returns.AT_ONCE, is_early=True, doubt=_DEPLOYMENT_GOES)
    if not is_living(situation.victim):
        return _after_finished(situation)
    if not workload.replicas and (deployment is None or not deployment.replicas or not deployment.is_unseen):
        return not_created(f"{situation.name} is scaled to 0 (replicas: 0)")
    if _is_surplus(situation, deployment):
        return OwnerAnswer(Returns.AT_ONCE, is_early=True, doubt=_SURPLUS)
    return OwnerAnswer(Returns.AT_ONCE, is_early=True)


def _after_finished(situation: Situation) -> OwnerAnswer:
    """A pod that has finished was replaced then, unless the controller has not seen that yet."""
    if situation.members.num_living >= situation.workload.replicas:
        return not_created("the pod has finished; no replacement pod is created")
    return OwnerAnswer(Returns.AT_ONCE, is_early=True)


def _is_surplus(situation: Situation, deployment: Workload | None) -> bool:
    """Whether some pod is to go without a successor.

    Of a Deployment its own `replicas` count, and not those of its ReplicaSet, which it has still to set.
    """
    workload, num_pods = situation.workload, situation.members.num_living
    if deployment is None:
        return num_pods > workload.replicas
    num_ordered = sum(each.replicas for each in _replica_sets_of(deployment, situation))
    if deployment.is_unseen and num_ordered > deployment.replicas:
        return True
    is_set_by_hand = workload.is_unseen and num_ordered < deployment.replicas
    return num_pods > (deployment.replicas if is_set_by_hand else workload.replicas)


def _lacks_deployment(situation: Situation, deployment: Workload | None) -> bool:
    """Whether the Deployment is being deleted, or is gone: the ReplicaSet goes next."""
    if deployment is not None:
        return deployment.is_deleting
    is_read = "Deployment.apps" in situation.snapshot.kinds
    return is_read and any(owner.controller and owner.kind == "Deployment" for owner in situation.workload.owners)


def _deployment_of(situation: Situation) -> Workload | None:
    owners = (owner for owner in situation.workload.owners if owner.controller and owner.kind == "Deployment")
    return next((found for owner in owners if (found := situation.snapshot.workloads.get(owner.uid))), None)


def _replica_sets_of(deployment: Workload, situation: Situation) -> list[Workload]:
    return situation.snapshot.workloads_by_controller.get(deployment.uid, [])
