"""What a run did to a cluster, told from the pods before it and after everything settled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from tests.e2e.closed_loop.sight import Sight
from tests.e2e.kube_api import Object


@dataclass(frozen=True, slots=True)
class Outcome:
    """Counts of pods. `num_pending` are replicas that run nowhere: without a node, or not even created.

    `num_returned` are replacements on the very node that a victim of the same owner left.
    """

    num_evicted: int
    num_pending: int
    num_returned: int

    @property
    def does_harm(self) -> bool:
        """Whether some eviction cost a replica or was for nothing."""
        return self.num_pending > 0 or self.num_returned > 0

    def __str__(self) -> str:
        return f"{self.num_evicted} evicted, {self.num_pending} pending, {self.num_returned} returned"


def outcome(before: Sight, after: Sight) -> Outcome:
    """The difference; pods that were being deleted before the run are nobody's victims."""
    staying, known = _uids(after.pods), _uids(before.pods)
    victims = [pod for pod in before.pods if _uid(pod) not in staying and "deletionTimestamp" not in pod["metadata"]]
    new = [pod for pod in after.pods if _uid(pod) not in known]
    return Outcome(
        num_evicted=len(victims),
        num_pending=after.num_unbound + after.num_missing,
        num_returned=(_places(victims) & _places(new)).total(),
    )


def _places(pods: Iterable[Object]) -> Counter[tuple[str, str]]:
    return Counter((_owner_uid(pod), pod["spec"].get("nodeName", "")) for pod in pods)


def _owner_uid(pod: Object) -> str:
    owners = pod["metadata"].get("ownerReferences", [])
    return next((str(owner["uid"]) for owner in owners if owner.get("controller")), _uid(pod))


def _uids(pods: Iterable[Object]) -> set[str]:
    return {_uid(pod) for pod in pods}


def _uid(pod: Object) -> str:
    return str(pod["metadata"]["uid"])
