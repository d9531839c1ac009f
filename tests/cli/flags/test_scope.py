"""-n, -A and -l as an operator types them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.commands import Descheduler


@pytest.mark.parametrize(
    ("flags", "moves"),
    [
        pytest.param(["-n", "default"], True, id="the pod's namespace"),
        pytest.param(["-n", "blog", "--namespace=default"], True, id="one of two namespaces"),
        pytest.param(["-n", "blog"], False, id="another namespace"),
        pytest.param(["-A"], True, id="all namespaces"),
        pytest.param(["-l", "app!=web"], True, id="labels that match"),
        pytest.param(["--selector", "app"], False, id="labels that do not match"),
    ],
)
def test_run_is_limited_to_pods_in_scope(
    descheduler: Descheduler, policy: Path, dump: Path, flags: list[str], moves: bool
) -> None:
    ended = descheduler("run", "--config", policy, "--snapshot", dump, *flags)

    assert ended.code == 0
    assert ("1 pod would be evicted" in ended.out) is moves
    assert ("OutOfScope" in ended.out) is not moves


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        pytest.param(["-n", "a", "-A"], "-n and -A cannot be used together", id="one and all namespaces"),
        pytest.param(["-n", ""], "-n is empty; use -A for all namespaces", id="an empty variable"),
        pytest.param(
            ["-n", "a,b"],
            "-n: 'a,b' is not a namespace name: only lowercase letters, digits and '-' are allowed",
            id="two at once",
        ),
        pytest.param(["-l", " "], "-l is empty; omit it to select pods with any labels", id="no labels"),
        pytest.param(["-l", "a in b"], "-l: label selector 'a in b': expected '(' after in or notin", id="no selector"),
    ],
)
def test_scope_that_makes_no_sense_is_one_message(
    descheduler: Descheduler, policy: Path, dump: Path, flags: list[str], message: str
) -> None:
    ended = descheduler("run", "--config", policy, "--snapshot", dump, *flags)

    assert (ended.code, ended.out) == (2, "")
    assert ended.err == f"error: {message} (see 'descheduler run --help')\n"
