"""The flags of commands that decide or evict."""

from __future__ import annotations

from datetime import timedelta

import click
import pytest

from descheduler.cli.flags.connection import takes_connection
from descheduler.cli.flags.running import may_take_policy, takes_deadline, takes_pace, takes_policy
from descheduler.cli.subcommands.loop import loop
from descheduler.cycle.options import ConnectionOptions
from descheduler.telemetry.metrics.serving import ListenAddress
from tests.cli.flags.taking import refusal, taken


@pytest.mark.parametrize("arguments", [["a.yaml"], ["--config", "a.yaml"], ["--policy-config-file", "a.yaml"]])
def test_policy_is_an_argument_or_the_value_of_a_flag(arguments: list[str]) -> None:
    assert taken(takes_policy, *arguments)["policy_file"] == "a.yaml"
    assert taken(may_take_policy, *arguments)["policy_file"] == "a.yaml"


def test_policy_is_named_once() -> None:
    for added in (takes_policy, may_take_policy):
        assert refusal(added, "a.yaml", "--config", "b.yaml") == (
            "two policies are named: a.yaml and --policy-config-file b.yaml."
        )


def test_policy_is_named_where_a_command_needs_one() -> None:
    assert refusal(takes_policy) == "Missing option '--policy-config-file', or the policy as an argument."
    assert taken(may_take_policy)["policy_file"] is None


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], (None, None)),
        (["--client-connection-qps", "0", "--client-connection-burst", "0"], (None, 0)),
        (["--client-connection-qps", "0.5", "--client-connection-burst", "1"], (0.5, 1)),
    ],
)
def test_pace_is_left_to_the_policy_unless_it_is_given(
    arguments: list[str], expected: tuple[float | None, int | None]
) -> None:
    found = taken(takes_pace, *arguments)

    assert (found["client_connection_qps"], found["client_connection_burst"]) == expected


@pytest.mark.parametrize("rate", ["-1", "inf", "nan", "-0.1"])
def test_rates_that_are_none_are_refused(rate: str) -> None:
    assert "is not a number from zero up" in refusal(takes_pace, "--client-connection-qps", rate)


def test_deadline_is_a_duration() -> None:
    assert taken(takes_deadline, "--deadline", "5m")["deadline"] == timedelta(minutes=5)
    assert taken(takes_deadline)["deadline"] is None


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], ConnectionOptions(None, None, None, 30.0)),
        (["--kubeconfig", "", "--context", "", "--as", ""], ConnectionOptions(None, None, None, 30.0)),
        (
            ["--kubeconfig", "k", "--context", "c", "--as", "u", "--request-timeout", "1m"],
            ConnectionOptions("k", "c", "u", 60.0),
        ),
    ],
)
def test_connection_is_that_of_the_flags(arguments: list[str], expected: ConnectionOptions) -> None:
    assert taken(takes_connection, *arguments)["connection"]() == expected


def address(text: str) -> ListenAddress | None:
    """Where `loop` listens with this value of --listen."""
    (option,) = (param for param in loop.params if param.name == "listen")
    assert option.callback is not None
    found: ListenAddress | None = option.callback(click.Context(loop), option, text)
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (":8080", ListenAddress("", 8080)),
        ("127.0.0.1:0", ListenAddress("127.0.0.1", 0)),
        ("[::1]:65535", ListenAddress("::1", 65535)),
        ("", None),
    ],
)
def test_loop_listens_where_it_is_told(text: str, expected: ListenAddress | None) -> None:
    assert address(text) == expected


@pytest.mark.parametrize("text", ["8080", ":65536", ":x", ":", ":-1", ":\u0662", "host"], ids=ascii)
def test_loop_refuses_what_is_no_address(text: str) -> None:
    with pytest.raises(click.BadParameter, match="is not an address such as"):
        address(text)
