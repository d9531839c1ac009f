"""Who uses which claim: placed pods by the claims that they name."""

from __future__ import annotations

from descheduler.model.pod import Pod, PodSpec
from descheduler.placement.shadow.shadow_cluster import ShadowCluster

__all__ = ["ClaimUsers"]


class ClaimUsers:
    """A follower that counts the users of each claim, also those on nodes that the snapshot does not hold.

    Claims of generic ephemeral volumes are left out: they have one user, and the scheduler does not look at them.
    """

    def __init__(self, cluster: ShadowCluster) -> None:
        del cluster  # pods are told one by one
        # Namespace → claim → its users, each as twice the node's index, plus one for a pod that is being deleted.
        self._users: dict[str, dict[str, tuple[int, ...]]] = {}

    def concerns(self, spec: PodSpec) -> bool:
        """Pods with claims alone."""
        del spec
        return False

    def pod_added(self, pod: Pod, node: int, *, is_terminating: bool) -> None:
        """Counts a user of each claim."""
        if pod.claim_names:
            users = self._users.setdefault(pod.namespace, {})
            for name in pod.claim_names:
                users[name] = (*users.get(name, ()), 2 * node + is_terminating)

    def pod_removed(self, pod: Pod, node: int, *, is_terminating: bool) -> None:
        """Takes the users back."""
        if not pod.claim_names:
            return
        users = self._users[pod.namespace]
        for name in pod.claim_names:
            left = list(users[name])
            left.remove(2 * node + is_terminating)
            if left:
                users[name] = tuple(left)
            else:
                del users[name]
        if not users:
            del self._users[pod.namespace]

    def fingerprint(self) -> object:
        """All users by claim."""
        return sorted(
            (namespace, name, sorted(users))
            for namespace, by_name in self._users.items()
            for name, users in by_name.items()
        )

    def is_used(self, namespace: str, name: str) -> bool:
        """Whether any pod uses the claim on a node of the snapshot, be it one that is being deleted.

        kube-scheduler (1.36) does not see the pods of nodes that do not exist any more.
        """
        return any(user >= 0 for user in self._users.get(namespace, {}).get(name, ()))

    def holders(self, namespace: str, name: str) -> frozenset[int]:
        """The nodes of users that stay; `NO_NODE` among them for a node that is not in the snapshot."""
        users = self._users.get(namespace, {}).get(name, ())
        return frozenset(user >> 1 for user in users if not user & 1)
