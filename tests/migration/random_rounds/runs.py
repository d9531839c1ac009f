"""One seeded run: a random cluster, a random policy, and an API that refuses, loses and leaves open at random."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from descheduler.cycle.deciding.decide import decide
from descheduler.cycle.deciding.round import Round
from descheduler.cycle.plugins import REGISTRY
from descheduler.eviction.background import Answers
from descheduler.kube.evict import EvictionResponse, PodState
from descheduler.migration.rounds import carry_out
from descheduler.migration.settings import DispatchSettings
from descheduler.plan.decisions import Decisions
from descheduler.plan.moves import Move
from descheduler.policy.load import load_policy
from tests.builders import NOW
from tests.migration.random_rounds.observer import Deed, faults_of
from tests.migration.random_rounds.policies import document_of, make_policy
from tests.migration.random_rounds.worlds import World, make_world, snapshot_of
from tests.migration.stand_ins import EVICTED, around, no_answer, no_disruption

_SEVERAL_BUDGETS = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
_SETTINGS = DispatchSettings(qps=1000.0, burst=1000, max_in_flight=1)


@dataclass(frozen=True)
class Run:
    """What the observer saw of one run: evictions that took effect or may have, and the promises they broke."""

    seed: int
    num_rounds: int
    deeds: tuple[Deed, ...]
    faults: tuple[str, ...]


class _RefusingApi:
    """Answers by the seed and the pod, and keeps what took effect or may have."""

    def __init__(self, world: World, seed: int) -> None:
        self._pods = {pod.key: pod for pod in world.pods}
        self._seed = seed
        self.num_round = 0
        self.deeds: list[Deed] = []

    def evict(
        self,
        namespace: str,
        name: str,
        *,
        uid: str,
        grace_period_seconds: int | None,
        annotations_reason: str,
        may_send: Callable[[], bool] = lambda: True,
    ) -> EvictionResponse:
        """An eviction, a refusal, or no answer at all."""
        del uid, grace_period_seconds, may_send
        key = f"{namespace}/{name}"
        answer = self._answer(key)
        if answer.status_code in (0, EVICTED.status_code):
            profile, _, plugin = annotations_reason.removeprefix("triggered by ").partition(":")[0].partition("/")
            self.deeds.append(Deed(self._pods[key], self.num_round, profile, plugin))
        return answer

    def look(self, namespace: str, name: str, *, uid: str) -> PodState:
        """A pod whose call had no answer is never seen again; one behind a balancer that fails stays."""
        del uid
        is_lost = self._answer(f"{namespace}/{name}").status_code == 0
        return PodState.UNKNOWN if is_lost else PodState.PRESENT

    def _answer(self, key: str) -> EvictionResponse:
        answers = [
            (60, EVICTED),
            (15, no_disruption()),
            (5, EvictionResponse(404, "NotFound", "gone")),
            (10, EvictionResponse(500, "InternalError", _SEVERAL_BUDGETS)),
            (10, no_answer()),
            (5, EvictionResponse(502, is_told=False)),
        ]
        weights, responses = [weight for weight, _ in answers], [response for _, response in answers]
        return Random(f"{self._seed} {key}").choices(responses, weights)[0]


def make_run(seed: int) -> Run:
    """Carries one policy out over one cluster; the same seed gives the same run."""
    random = Random(seed)
    world, policy = make_world(random), make_policy(random)
    snapshot, loaded = snapshot_of(world), load_policy(document_of(policy), REGISTRY)
    api = _RefusingApi(world, seed)

    def decide_again(answers: Answers, prior_moves: Sequence[Move]) -> Decisions:
        api.num_round += 1
        return decide(
            loaded, snapshot, now=NOW, this_round=Round(answers=answers, prior_moves=prior_moves, most_assessed=0)
        )

    carry_out(decide_again, api, _SETTINGS, around(_SETTINGS))
    faults = faults_of(world, policy, api.deeds)
    return Run(seed, api.num_round, tuple(api.deeds), tuple(faults))
