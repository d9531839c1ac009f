"""The moves of a run in the memory of runs: which are kept, for how long, and what a damaged note comes to."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from descheduler.cycle.deciding.decide import decide
from descheduler.cycle.options import RunResult
from descheduler.cycle.plugins import REGISTRY
from descheduler.cycle.recent_moves import longest_window, moves_in, with_moves
from descheduler.cycle.remembering import remembers
from descheduler.model.pod import Pod
from descheduler.placement.landings.landing import Landing, LandingVerdict
from descheduler.placement.replacements.answer import OwnerAnswer, Returns
from descheduler.placement.replacements.replacement import Replacement
from descheduler.plan.moves import Move
from descheduler.plan.outcome import Outcome, OutcomeCode, OutcomeKind
from descheduler.plan.planned import PlannedEviction
from descheduler.plan.recent_moves import NO_MOVES, RECENT_MOVES_KEY, RecentMove, RecentMoves, WorkloadId
from descheduler.plan.run_memory import RunMemory
from descheduler.policy.load import load_policy
from descheduler.policy.types import Policy
from tests.builders import NOW, make_node, make_pod, make_snapshot
from tests.policy.builders import koordinator, upstream

HOUR = timedelta(hours=1)
PODS = [make_pod(name, uid=name) for name in ("one", "two", "three")]
WEB = WorkloadId("ReplicaSet", "default", "web", "replicaset-web")


def policy(*windows: str) -> Policy:
    """A profile for each window; "" for one without a moveHistory."""
    histories = [f"moveHistory: {{window: {window}}}" if window else "" for window in windows]
    profiles = "".join(
        f"- {{name: p{number}, pluginConfig: [{{name: MigrationController, args: {{{history}}}}}]}}\n"
        for number, history in enumerate(histories)
    )
    return load_policy(koordinator(f"profiles:\n{profiles}"), REGISTRY)


@pytest.mark.parametrize(
    ("windows", "longest"),
    [(("",), None), (("1h",), HOUR), (("1h", "", "2h"), 2 * HOUR), (("3h", "2h"), 3 * HOUR)],
)
def test_moves_matter_as_long_as_the_longest_window(windows: tuple[str, ...], longest: timedelta | None) -> None:
    assert longest_window(policy(*windows)) == longest


@pytest.mark.parametrize(
    ("found", "is_remembered"),
    [
        pytest.param(policy("1h"), True, id="a moveHistory"),
        pytest.param(policy(""), False, id="none"),
        pytest.param(
            load_policy(
                koordinator(
                    "profiles:\n"
                    "- pluginConfig:\n"
                    "  - {name: LowNodeLoad, args: {highThresholds: {cpu: 70}, lowThresholds: {cpu: 20}}}\n"
                    "  plugins: {balance: {enabled: [{name: LowNodeLoad}]}}\n"
                ),
                REGISTRY,
            ),
            True,
            id="a plugin that remembers",
        ),
        pytest.param(
            load_policy(
                upstream(
                    "profiles:\n"
                    "- name: p\n"
                    "  pluginConfig: [{name: RemoveDuplicates}]\n"
                    "  plugins: {balance: {enabled: [RemoveDuplicates]}}\n"
                ),
                REGISTRY,
            ),
            False,
            id="one that does not",
        ),
    ],
)
def test_policy_has_a_memory_where_somebody_uses_it(found: Policy, is_remembered: bool) -> None:
    assert remembers(found, REGISTRY) is is_remembered


def moved(hours: float) -> RecentMove:
    return RecentMove(WEB, "a", "b", NOW - hours * HOUR, "done")


def memory(*moves: RecentMove) -> RunMemory:
    return RunMemory().after(NOW, {RECENT_MOVES_KEY: RecentMoves(moves).encoded()})


@pytest.mark.parametrize(
    ("found", "window", "number", "note"),
    [
        pytest.param(memory(moved(1)), "1h", 1, "", id="a move"),
        pytest.param(memory(), "1h", 0, "", id="none"),
        pytest.param(memory(moved(1)), "", 0, "", id="a policy that does not ask for them"),
        pytest.param(
            RunMemory(missing="there is no Lease"),
            "1h",
            0,
            "evictions of earlier runs do not count for moveHistory: there is no Lease",
            id="no memory",
        ),
        pytest.param(
            RunMemory().after(NOW, {RECENT_MOVES_KEY: b"{"}),
            "1h",
            0,
            "evictions of earlier runs do not count for moveHistory, the memory of them: it is damaged: "
            "Expected `array`, got `object`",
            id="a damaged note",
        ),
        pytest.param(RunMemory(missing="there is no Lease"), "", 0, "", id="no memory, and nobody asks for it"),
    ],
)
def test_moves_of_earlier_runs_are_known_or_it_is_said_why_not(
    found: RunMemory, window: str, number: int, note: str
) -> None:
    moves, notes = moves_in(found, policy(window))

    assert len(moves.moves) == number
    assert notes == ((note,) if note else ())


def outcome(
    name: str, kind: OutcomeKind = OutcomeKind.EVICTED, landed_on: str = "", landing: Landing | None = None
) -> Outcome:
    eviction = PlannedEviction("default", name, name, "a", "p", "q", landing=landing)
    return Outcome(eviction, kind, OutcomeCode.DONE, "", landed_on=landed_on)


def result(*outcomes: Outcome, for_users: tuple[Outcome, ...] = (), background: tuple[Pod, ...] = ()) -> RunResult:
    """A run that has asked for pods one and two, and for pod three on behalf of a user."""
    snapshot = make_snapshot([make_node("a")], PODS)
    decisions = decide(policy(""), snapshot, now=NOW)
    one, two, three = (Move(pod, "p", "q") for pod in PODS)
    handed_over = tuple(Move(pod, "p", "q") for pod in background)
    decisions = replace(decisions, moves=(one,) if background else (one, two), background=handed_over)
    return RunResult(decisions, outcomes, for_users=for_users, evicted_for_users=(three,))


def kept(found: RunResult, window: str = "1h", before: RunMemory | None = None, hours: float = 0.5) -> list[Any]:
    """Source, target, time and outcome of the moves that are remembered after a run of half an hour."""
    after = with_moves(before or RunMemory(), policy(window), found, NOW + hours * HOUR)
    note = after.of(RECENT_MOVES_KEY).note
    return [(move.source, move.target, move.at, move.outcome) for move in RecentMoves.decoded(note).moves]


LEFT = ("a", "", NOW + 0.5 * HOUR, "done")


@pytest.mark.parametrize(
    ("found", "moves"),
    [
        pytest.param(result(), [], id="nothing was evicted"),
        pytest.param(result(outcome("one"), outcome("two")), [LEFT, LEFT], id="two pods"),
        pytest.param(result(outcome("one"), outcome("two", OutcomeKind.REFUSED)), [LEFT], id="one was refused"),
        pytest.param(result(outcome("one", OutcomeKind.NOT_ATTEMPTED)), [], id="no call was made"),
        pytest.param(result(for_users=(outcome("three"),)), [LEFT], id="for a user"),
        pytest.param(result(outcome("elsewhere")), [], id="a pod that nobody has asked for"),
        pytest.param(
            result(outcome("two", OutcomeKind.BACKGROUND), background=(PODS[1],)), [LEFT], id="another controller"
        ),
        pytest.param(result(outcome("one", landed_on="c")), [("a", "c", *LEFT[2:])], id="seen on a node"),
    ],
)
def test_what_has_left_is_remembered_as_of_the_end_of_the_run(found: RunResult, moves: list[Any]) -> None:
    assert kept(found) == moves


def test_moves_are_remembered_for_the_window_and_not_without_one() -> None:
    before = memory(moved(0.4), moved(0.6))

    assert len(kept(result(outcome("one")), before=before)) == 2
    assert with_moves(before, policy(""), result(outcome("one")), NOW) is before
    assert moves_in(RunMemory(), policy("1h"))[0].moves == NO_MOVES.moves


@pytest.mark.parametrize(
    ("cause", "landed_on", "target"),
    [("", "", "b"), ("unknown owner", "", ""), ("", "c", "c"), ("unknown owner", "c", "c")],
)
def test_replacement_is_where_it_was_seen_else_where_it_was_certain_to_go(
    cause: str, landed_on: str, target: str
) -> None:
    pod, lands = PODS[0], LandingVerdict.LANDS
    replacement = Replacement(pod, OwnerAnswer(Returns.AT_ONCE), pod, "template")
    landing = Landing(pod, replacement, lands, lands, "b", cause=cause)

    assert kept(result(outcome("one", landed_on=landed_on, landing=landing))) == [("a", target, *LEFT[2:])]
