"""Policies in which a plan chooses the nodes of replacements, which Reservations have to hold for them."""

from __future__ import annotations

import pytest

from tests.policy.builders import koordinator, messages, upstream

_CREATES = "reservationProvider: koordinator"
_ENABLED = "balance: {enabled: [{name: MigrationPlanner}]}"
_WITHOUT_CONTROLLER = (
    "evict: {disabled: [{name: MigrationController}], enabled: [{name: DefaultEvictor}]},"
    " filter: {disabled: [{name: MigrationController}], enabled: [{name: DefaultEvictor}]}"
)


def _policy(*, controller: str = _CREATES, planner: str = "chooseNodes: true", plugins: str = _ENABLED) -> str:
    """A profile with the planner on line 6 and these arguments of both plugins; none of MigrationController for ""."""
    body = f"""\
    profiles:
    - name: p
      pluginConfig:
      - name: MigrationPlanner
        args: {{{planner}, objectives: [{{consolidateNodes: {{}}}}]}}
      {f"- {{name: MigrationController, args: {{{controller}}}}}" if controller else ""}
      plugins: {{{plugins}}}
    """
    return koordinator(body)


_REFUSED = (
    "policy.yaml:7:25: profiles[0].pluginConfig[0].args.chooseNodes: needs Reservations: use a DeschedulerConfiguration"
    " that enables MigrationController with reservationProvider: koordinator and defaultJobMode: ReservationFirst"
)


@pytest.mark.parametrize(
    "facts",
    [
        pytest.param({"controller": ""}, id="of MigrationController as it comes"),
        pytest.param({"controller": "reservationProvider: placeholder"}, id="of placeholder pods"),
        pytest.param({"controller": "reservationProvider: none"}, id="of no provider"),
        pytest.param({"controller": f"{_CREATES}, defaultJobMode: EvictDirectly"}, id="of jobs that evict directly"),
        pytest.param({"plugins": f"{_ENABLED}, {_WITHOUT_CONTROLLER}"}, id="of another plugin that evicts"),
    ],
)
def test_nodes_cannot_be_chosen_for_pods(facts: dict[str, str]) -> None:
    assert messages(_policy(**facts)) == [_REFUSED]


def test_nodes_cannot_be_chosen_in_a_policy_of_upstream() -> None:
    body = """\
    profiles:
    - name: p
      pluginConfig:
      - name: MigrationPlanner
        args: {chooseNodes: true, objectives: [{consolidateNodes: {}}]}
      plugins: {balance: {enabled: [MigrationPlanner]}}
    """

    assert messages(upstream(body)) == [_REFUSED]


@pytest.mark.parametrize(
    "facts",
    [
        pytest.param({}, id="that creates Reservations"),
        pytest.param({"controller": f"{_CREATES}, defaultJobMode: ReservationFirst"}, id="that names the job mode"),
        pytest.param({"controller": "", "planner": "chooseNodes: false"}, id="in which the scheduler chooses"),
        pytest.param({"controller": "", "plugins": ""}, id="that does not enable the planner"),
    ],
)
def test_nothing_is_said_of_a_policy(facts: dict[str, str]) -> None:
    assert messages(_policy(**facts)) == []
