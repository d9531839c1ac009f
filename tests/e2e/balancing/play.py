"""A contender on an uneven cluster of its own, run after run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.balancing.contenders import Contender, Turn
from tests.e2e.balancing.sight import Sight, look, wait_settled
from tests.e2e.binaries import Binaries
from tests.e2e.cluster_fill import fill
from tests.e2e.control_plane import ControlPlane, running
from tests.e2e.kube_api import Object
from tests.worlds.uneven import TIGHT, make_uneven_cluster

_LEASE_SECONDS = 600
"""A machine that plays 200 kubelets as well may be late with their leases, and nodes must not look dead for it."""


@dataclass(frozen=True, slots=True)
class Round:
    """One run and the cluster once its replacements had settled."""

    turn: Turn
    before: Sight
    after: Sight

    @property
    def num_evicted(self) -> int:
        """Pods that are gone, as the API server tells it."""
        return len(self.before.uids - self.after.uids)

    @property
    def num_planned(self) -> int:
        """Evictions of the plan, as the program tells it; 0 where it tells of none."""
        goal = self.turn.told.get("plan", {}).get("goal") or {}
        return sum(objective["evictions"] for objective in goal.get("objectives", ()))

    @property
    def num_as_predicted(self) -> int:
        """New pods on the node that the program predicted for a pod of their owner, whose place they may have taken."""
        owners = {pod["metadata"]["uid"]: _owner(pod) for pod in self.before.pods}
        evicted = (result for result in self.turn.told.get("results", ()) if result["result"] == "evicted")
        wanted = Counter((owners[each["pod"]["uid"]], (each["target"] or {}).get("node")) for each in evicted)
        new = (pod for pod in self.after.pods if pod["metadata"]["uid"] not in owners)
        return (wanted & Counter((_owner(pod), pod["spec"].get("nodeName")) for pod in new)).total()


@dataclass(frozen=True, slots=True)
class Played:
    """What a contender did until it evicted nothing more, or its runs were used up."""

    before: Sight
    rounds: Sequence[Round]

    @property
    def after(self) -> Sight:
        """The cluster in the end."""
        return self.rounds[-1].after

    @property
    def num_evicted(self) -> int:
        """Pods evicted in all runs."""
        return sum(each.num_evicted for each in self.rounds)

    @property
    def seconds(self) -> float:
        """What the runs took, without what the cluster took to settle after each."""
        return sum(each.turn.seconds for each in self.rounds)


@contextmanager
def uneven_cluster(
    folder: Path, binaries: Binaries, *, nodes: int, seed: int, mean_ratio: float = TIGHT
) -> Iterator[ControlPlane]:
    """A control plane below `folder` with the cluster of `make_uneven_cluster`."""

    def fill_etcd(url: str) -> None:
        fill(url, make_uneven_cluster(nodes=nodes, seed=seed, mean_ratio=mean_ratio))

    with running(folder, binaries, fill_etcd=fill_etcd, lease_seconds=_LEASE_SECONDS) as plane:
        yield plane


def play(
    plane: ControlPlane, contender: Contender, *, most_runs: int, tell: Callable[[Round], None] = lambda _round: None
) -> Played:
    """Runs `contender` until it evicts nothing, `most_runs` times at most; `tell` hears of each run."""
    num_pods = len(look(plane.api).pods)
    before = wait_settled(plane.api, num_pods)
    rounds: list[Round] = []
    while len(rounds) < most_runs and (not rounds or rounds[-1].num_evicted):
        seen = rounds[-1].after if rounds else before
        rounds.append(Round(contender.run(plane), seen, wait_settled(plane.api, num_pods)))
        tell(rounds[-1])
    return Played(before, rounds)


def _owner(pod: Object) -> str:
    (owner,) = pod["metadata"]["ownerReferences"]
    return str(owner["uid"])
