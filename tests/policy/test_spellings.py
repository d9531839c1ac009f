"""One thing said in several ways: numbers and truth in YAML, keys that are there twice."""

from __future__ import annotations

import pytest

from descheduler.documents.problems import PolicyError
from descheduler.policy.shared_args import Namespaces
from descheduler.strategies.remove_duplicates import RemoveDuplicatesArgs
from descheduler.strategies.remove_failed_pods import RemoveFailedPodsArgs

from .builders import args_of, load, upstream


def test_last_of_two_equal_keys_counts_in_yaml_arguments() -> None:
    args = args_of("RemoveDuplicates", "{namespaces: {include: [a], include: [b]}}")

    assert args == RemoveDuplicatesArgs(namespaces=Namespaces(include=("b",)))


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("5", 5),
        ("2.0", 2),
        ("1e3", 1000),
        ("0x10", 16),
        ("010", 8),
        ("0o17", 15),
        ("0b101", 5),
        ("1_000", 1000),
        ("+7", 7),
        ("18446744073709551615", 2**64 - 1),
        ("0", 0),
        ("null", None),
        ("~", None),
    ],
)
def test_yaml_spellings_of_a_limit(written: str, read: int | None) -> None:
    assert load(upstream(f"maxNoOfPodsToEvictPerNode: {written}\n")).max_evictions_per_node == read


@pytest.mark.parametrize("written", ["y", "yes", "Yes", "on", "ON", "true", "TRUE", "!!bool yes"])
def test_yaml_1_1_spellings_of_true(written: str) -> None:
    policy = load(upstream(f"evictionFailureEventNotification: {written}\n"))

    assert policy.eviction_failure_event_notification


@pytest.mark.parametrize(
    ("twice", "name", "config"),
    [
        pytest.param('"name": "a", "name": "b"', "b", [], id="a string is replaced"),
        pytest.param('"name": "a", "name": null', "a", [], id="null leaves a string"),
        pytest.param(
            '"pluginConfig": [{"name": "RemoveDuplicates"}], "pluginConfig": null', "", [], id="null and a list"
        ),
        pytest.param(
            '"pluginConfig": [{"name": "RemoveDuplicates"}, {"name": "PodLifeTime"}], "pluginConfig": [{}]',
            "",
            ["RemoveDuplicates"],
            id="items fill items",
        ),
    ],
)
def test_repeated_key_of_json_is_read_into_what_it_was_before(twice: str, name: str, config: list[str]) -> None:
    policy = load(f'{{"apiVersion": "descheduler/v1alpha2", "profiles": [{{{twice}}}]}}')

    [profile] = policy.profiles
    assert profile.name == name
    assert [entry.name for entry in profile.plugin_configs] == ["DefaultEvictor", *config]


def test_repeated_arguments_of_json_replace_each_other_unless_null() -> None:
    config = '"name": "RemoveFailedPods", "args": {"bad": 1}, "args": {"minPodLifetimeSeconds": 5}, "args": null'

    policy = load(f'{{"apiVersion": "descheduler/v1alpha2", "profiles": [{{"pluginConfig": [{{{config}}}]}}]}}')

    assert policy.profiles[0].args["RemoveFailedPods"] == RemoveFailedPodsArgs(min_pod_lifetime_seconds=5)


def test_whole_float_in_json_is_no_integer() -> None:
    text = '{"apiVersion": "descheduler/v1alpha2", "maxNoOfPodsToEvictTotal": 2.0}'

    with pytest.raises(PolicyError, match=r"expected a whole number, found number 2\.0"):
        load(text)
