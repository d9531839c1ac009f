"""What strategies read of the containers of pods, and how they say an age."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from descheduler.strategies.shared.pods import (
    LONGEST_AGE_SECONDS,
    age_seconds,
    age_words,
    exit_codes,
    reasons,
    waiting_reasons,
)
from tests.builders import NOW, container_status, make_pod

POD = make_pod(
    "p",
    reason="Shutdown",
    containers=[container_status(waiting="CrashLoopBackOff"), container_status(terminated="Error", exit_code=3)],
    init_containers=[
        container_status(waiting="PodInitializing"),
        container_status(terminated="OOMKilled", exit_code=0),
    ],
    ephemeral_containers=[container_status(waiting="ErrImagePull"), container_status()],
)


@pytest.mark.parametrize(
    ("which", "expected"),
    [
        pytest.param({"init": False}, ["Shutdown", "CrashLoopBackOff", "Error"], id="containers"),
        pytest.param(
            {"init": True},
            ["Shutdown", "CrashLoopBackOff", "Error", "PodInitializing", "OOMKilled"],
            id="init containers as well",
        ),
        pytest.param(
            {"init": False, "ephemeral": True},
            ["Shutdown", "CrashLoopBackOff", "Error", "ErrImagePull"],
            id="ephemeral containers as well",
        ),
    ],
)
def test_reasons_are_those_of_the_pod_and_its_containers(which: dict[str, bool], expected: list[str]) -> None:
    assert list(reasons(POD, **which)) == expected


def test_reasons_that_are_empty_do_not_count() -> None:
    pod = make_pod("p", reason="", containers=[container_status(waiting=""), container_status(terminated="")])

    assert list(reasons(pod, init=True)) == []


@pytest.mark.parametrize(
    ("init", "waiting", "codes"),
    [(False, ["CrashLoopBackOff"], [3]), (True, ["CrashLoopBackOff", "PodInitializing"], [3, 0])],
)
def test_containers_wait_and_have_exited(init: bool, waiting: list[str], codes: list[int]) -> None:
    assert (list(waiting_reasons(POD, init=init)), list(exit_codes(POD, init=init))) == (waiting, codes)


@pytest.mark.parametrize(
    ("facts", "seconds"),
    [
        pytest.param({"age": 59.9}, 59, id="whole seconds"),
        pytest.param({"age": -1.5}, -1, id="a time to come"),
        pytest.param({"age": None}, LONGEST_AGE_SECONDS, id="no time"),
    ],
)
def test_age_of_a_pod_in_seconds(facts: dict[str, Any], seconds: int) -> None:
    assert age_seconds(make_pod("p", **facts), NOW) == seconds


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        pytest.param(0, "0 s old", id="new"),
        pytest.param(-5, "0 s old", id="of a time to come"),
        pytest.param(59, "59 s old", id="seconds"),
        pytest.param(60, "1 min old", id="a minute"),
        pytest.param(3 * 3600, "3 h old", id="hours"),
        pytest.param(86400 + 2 * 3600 + 30 * 60, "1 d 2 h old", id="the two largest units"),
        pytest.param(86400 + 5, "1 d 5 s old", id="the two largest that are not 0"),
        pytest.param(LONGEST_AGE_SECONDS, "without a creation time", id="no time"),
        pytest.param(
            int(timedelta(days=LONGEST_AGE_SECONDS // 86400).total_seconds()),
            "106751 d old",
            id="nearly as old as that",
        ),
    ],
)
def test_age_in_words(seconds: int, words: str) -> None:
    assert age_words(seconds) == words
