"""What is told of pods that a run evicts: their gangs, what they asked for, and where their replacements may go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from descheduler.cycle.deciding.decide import decide
from descheduler.cycle.plugins import REGISTRY
from descheduler.eviction.run_notes import notes_after
from descheduler.model.pod import Pod
from descheduler.model.verdict import Reason, refuse
from descheduler.placement.landings.landing import Landing, LandingVerdict
from descheduler.placement.replacements.answer import OwnerAnswer, Returns
from descheduler.placement.replacements.replacement import Replacement
from descheduler.plan.moves import Move, Refusal
from descheduler.policy.load import load_policy
from descheduler.policy.types import Policy
from tests.builders import NOW, Object, make_node, make_pod, make_snapshot

KARPENTER, AUTOSCALER = "karpenter.sh/do-not-disrupt", "cluster-autoscaler.kubernetes.io/safe-to-evict"
VOLCANO = "PodGroup.scheduling.volcano.sh"


def policy(**plugins: Mapping[str, object]) -> Policy:
    """Profiles `p`, with these plugins as filters, and `other` without."""
    config = [{"name": name, "args": dict(args)} for name, args in plugins.items()]
    filters = {"preevictionfilter": {"enabled": [name for name in plugins if name == "PlacementVerification"]}}
    profiles: list[Object] = [{"name": "p", "pluginConfig": config, "plugins": filters}, {"name": "other"}]
    document = {"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerPolicy", "profiles": profiles}
    return load_policy(document, REGISTRY)


VERIFIED = policy(PlacementVerification={})


def notes(
    found: Policy, moves: Sequence[Move], refusals: Sequence[Refusal] = (), *, kinds: Sequence[str] = (), nodes: int = 2
) -> list[str]:
    """What is told of these moves and refusals."""
    snapshot = make_snapshot([make_node(f"n{number}") for number in range(nodes)], kinds=frozenset(kinds))
    empty = decide(found, snapshot, now=NOW)
    return list(notes_after(found, replace(empty, moves=tuple(moves), refusals=tuple(refusals)), snapshot))


def landing(pod: Pod, **facts: Any) -> Landing:
    replacement = Replacement(pod, OwnerAnswer(Returns.AT_ONCE), pod, "template")
    return Landing(pod, replacement, LandingVerdict.LANDS, LandingVerdict.LANDS, "n0", **facts)


def move(pod: Pod, profile: str = "p", held_on: str = "", **facts: Any) -> Move:
    """A move whose replacement lands."""
    return Move(pod, profile, "q", landing=landing(pod, **facts), held_on=held_on)


WEB = make_pod("web")
IN_GROUP = replace(make_pod("worker"), annotations={"scheduling.k8s.io/group-name": "train"})


@pytest.mark.parametrize(
    ("moves", "kinds", "told"),
    [
        pytest.param([move(WEB)], [], "", id="a pod of no gang"),
        pytest.param(
            [move(IN_GROUP)],
            [],
            "1 evicted pod names a PodGroup (scheduling.volcano.sh), and no such objects were read",
            id="a pod of a gang",
        ),
        pytest.param(
            [move(IN_GROUP), move(IN_GROUP)],
            [],
            "2 evicted pods name a PodGroup (scheduling.volcano.sh), and no such objects were read",
            id="two",
        ),
        pytest.param([move(IN_GROUP)], [VOLCANO], "", id="whose group was read"),
        pytest.param([move(IN_GROUP, "other")], [], "", id="of a profile that verifies nothing"),
    ],
)
def test_gangs_that_were_not_read_are_told(moves: list[Move], kinds: list[str], told: str) -> None:
    found = notes(VERIFIED, moves, kinds=kinds)

    assert found == ([f"{told}: how many pods the gang needs is unknown"] if told else [])


@pytest.mark.parametrize(
    ("moves", "told"),
    [
        pytest.param([move(WEB)], [], id="the node is known"),
        pytest.param([Move(WEB, "p", "q")], [], id="nothing was looked up"),
        pytest.param(
            [move(WEB, open_cause="b"), move(WEB, open_cause="a"), move(WEB, open_cause="a")],
            [
                "2 replacement pods: which of the nodes that fit is chosen is unknown (a)",
                "1 replacement pod: which of the nodes that fit is chosen is unknown (b)",
            ],
            id="for two causes",
        ),
    ],
)
def test_choices_that_are_open_are_counted_by_cause(moves: list[Move], told: list[str]) -> None:
    assert notes(VERIFIED, moves) == told


STAYING = make_pod("stays", annotations={KARPENTER: "true"})
ANOTHER = make_pod("another", annotations={AUTOSCALER: "false"})
PROTECTING = {"podProtections": {"extraEnabled": ["PodsWithDoNotDisrupt"]}}
WAY_OUT = "to protect such pods, add PodsWithDoNotDisrupt to podProtections.extraEnabled of DefaultEvictor"


def refusal(pod: Pod, profile: str = "p") -> Refusal:
    return Refusal(pod, profile, "q", refuse(Reason.BARE_POD, "no owner"), is_attempt=False)


@pytest.mark.parametrize(
    ("found", "moves", "refusals", "counts"),
    [
        pytest.param(policy(), [move(WEB)], [], "", id="nobody asks to stay"),
        pytest.param(policy(), [move(STAYING)], [], "1 selected pod has|1 is evicted", id="one is evicted"),
        pytest.param(policy(), [], [refusal(STAYING)], "1 selected pod has|0 are evicted", id="one is refused"),
        pytest.param(
            policy(), [move(STAYING)], [refusal(STAYING)], "1 selected pod has|1 is evicted", id="the same pod twice"
        ),
        pytest.param(
            policy(), [move(STAYING), move(ANOTHER)], [], "2 selected pods have|2 are evicted", id="two are evicted"
        ),
        pytest.param(
            policy(), [move(STAYING)], [refusal(ANOTHER)], "2 selected pods have|1 is evicted", id="one of two is"
        ),
        pytest.param(policy(DefaultEvictor=PROTECTING), [move(STAYING)], [], "", id="a profile that protects them"),
        pytest.param(policy(DefaultEvictor=PROTECTING), [], [refusal(STAYING)], "", id="of which it refuses one"),
        pytest.param(
            policy(DefaultEvictor=PROTECTING),
            [move(STAYING, "other")],
            [],
            "1 selected pod has|1 is evicted",
            id="another profile than the one that protects them",
        ),
    ],
)
def test_pods_that_ask_to_stay_are_counted_where_nothing_protects_them(
    found: Policy, moves: list[Move], refusals: list[Refusal], counts: str
) -> None:
    have, _, are = counts.partition("|")

    told = [note for note in notes(found, moves, refusals) if "annotation" in note]

    assert told == (
        [f'{have} the annotation {KARPENTER}: "true" or {AUTOSCALER}: "false"; {are}: {WAY_OUT}'] if counts else []
    )


@pytest.mark.parametrize(
    ("moves", "told"),
    [
        pytest.param([move(WEB, is_sampled=True)], "", id="no room is held"),
        pytest.param([move(WEB, held_on="n1")], "", id="the scheduler looks at all nodes"),
        pytest.param([Move(WEB, "p", "q", held_on="n1")], "", id="nothing was looked up"),
        pytest.param(
            [move(WEB, held_on="n1", is_sampled=True)],
            "profile p: 1 replacement pod can be scheduled onto another node than the plan chose",
            id="one replacement",
        ),
        pytest.param(
            [move(WEB, held_on="n1", is_sampled=True)] * 2 + [move(WEB, "other", is_sampled=True)],
            "profile p: 2 replacement pods can be scheduled onto other nodes than the plan chose",
            id="two replacements",
        ),
    ],
)
def test_rooms_that_replacements_may_miss_are_counted(moves: list[Move], told: str) -> None:
    found = [note.partition(" (chooseNodes")[0] for note in notes(VERIFIED, moves)]

    assert found == ([told] if told else [])
