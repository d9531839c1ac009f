"""Policies that stand in a ConfigMap."""

from __future__ import annotations

import json

import pytest

from tests.policy.builders import UPSTREAM, load, messages, upstream, warnings

GOOD = upstream("maxNoOfPodsToEvictTotal: 7\n")
BAD = upstream("maxNoOfPodsToEvictTotal: many\n")


def config_map(*, name: str = "descheduler", **data: str) -> str:
    """A ConfigMap as a chart renders it; `_` in a key stands for a dot. The first entry starts in line 6, column 5."""
    entries = "".join(
        f"  {key.replace('_', '.')}: |\n{''.join(f'    {line}'.rstrip() + chr(10) for line in text.splitlines())}"
        for key, text in data.items()
    )
    return f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata:\n{entries}"


def as_json(**data: str) -> dict[str, object]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": data}


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(config_map(policy_yaml=GOOD), id="a ConfigMap"),
        pytest.param(config_map(policy_yaml=f"---\n{GOOD}"), id="an entry with a marker of its start"),
        pytest.param(config_map(policy_yaml=GOOD, notes="kinder: DeschedulerPolicy"), id="other entries beside it"),
        pytest.param(config_map(policy_yaml=json.dumps(as_json() | {
            "apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerPolicy", "maxNoOfPodsToEvictTotal": 7,
        })), id="an entry in JSON"),
        pytest.param(f"apiVersion: v1\nkind: ServiceAccount\n---\n{config_map(policy_yaml=GOOD)}---\nkind: Role\n",
                     id="one of several documents"),
        pytest.param(f"---\n# Source: none\n---\n{config_map(policy_yaml=GOOD)}", id="after an empty document"),
        pytest.param(f"{config_map(settings='a: 1')}---\n{config_map(policy_yaml=GOOD)}", id="one of two ConfigMaps"),
        pytest.param(json.dumps({"kind": "List", "items": [{"kind": "Secret"}, as_json(policy=GOOD)]}), id="in a List"),
        pytest.param(json.dumps(as_json(policy=GOOD)), id="a ConfigMap in JSON"),
    ],
)  # fmt: skip
def test_policy_is_read_from_a_config_map(text: str) -> None:
    assert load(text).max_evictions_total == 7


def test_policy_has_the_same_digest_in_a_config_map_as_alone() -> None:
    assert load(config_map(policy_yaml=GOOD)).digest == load(GOOD).digest


def test_places_of_problems_are_those_of_the_file() -> None:
    found = messages(config_map(policy_yaml=BAD))

    assert found == [
        "policy.yaml:8:30: maxNoOfPodsToEvictTotal: 'many' is neither a number nor a percentage such as '10%'",
    ]


def test_places_of_warnings_are_those_of_the_file() -> None:
    found = warnings(config_map(policy_yaml=upstream("oddA: 3\noddB: 4\n")))

    assert [warning.partition(" odd")[0] for warning in found] == ["policy.yaml:8:5:", "policy.yaml:9:5:"]


def test_places_behind_an_anchor_are_those_of_the_file() -> None:
    text = config_map(policy_yaml=upstream("profiles:\n- &x {name: 1}\n- *x\n"))

    assert [message.partition(": ")[0] for message in messages(text)] == ["policy.yaml:9:17", "policy.yaml:9:17"]


def test_broken_yaml_in_an_entry_is_placed_in_the_file() -> None:
    (message,) = messages(config_map(policy_yaml=UPSTREAM + "profiles: [\n"))

    assert message.startswith("policy.yaml:9:")


def test_broken_text_of_an_entry_in_one_line_is_placed_by_its_own_line() -> None:
    (message,) = messages(json.dumps(as_json(policy=UPSTREAM + "profiles: [\n")))

    assert message.startswith("policy.yaml:1:89: not YAML")
    assert message.endswith("of the entry")


def test_several_policies_are_refused_by_name() -> None:
    text = config_map(policy_yaml=GOOD, gpu_yaml=GOOD) + "---\n" + config_map(name="other", policy_yaml=GOOD)

    (message,) = messages(text)

    assert message == (
        "policy.yaml:9:13: holds several policies: policy.yaml of ConfigMap descheduler, gpu.yaml of "
        "ConfigMap descheduler, policy.yaml of ConfigMap other; keep one of them"
    )


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        pytest.param(
            config_map(a="b: 1", c="# kind: DeschedulerPolicy"),
            "a of ConfigMap descheduler, c of ConfigMap descheduler",
            id="other entries",
        ),
        pytest.param("apiVersion: v1\nkind: ConfigMap\n", "entries: none", id="no entries"),
    ],
)
def test_config_map_without_a_policy_is_refused_with_its_keys(text: str, keys: str) -> None:
    (message,) = messages(text)

    assert "no entry of a ConfigMap holds a DeschedulerPolicy or a DeschedulerConfiguration" in message
    assert keys in message


def test_many_entries_do_not_flood_the_message() -> None:
    (message,) = messages(json.dumps(as_json(**{f"key-{number:04}": "x" for number in range(2000)})))

    assert message.endswith("key-0009 of ConfigMap c, and 1990 more")


def test_first_document_counts_when_it_is_a_policy() -> None:
    text = f"{upstream('maxNoOfPodsToEvictTotal: 1')}\n---\n{config_map(policy_yaml=GOOD)}"

    assert load(text).max_evictions_total == 1
