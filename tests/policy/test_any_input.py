"""Laws of loading: whatever comes in, the answer is a policy or a PolicyError that prints on one line a problem."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from descheduler.cycle.plugins import REGISTRY
from descheduler.documents.problems import PolicyError
from descheduler.policy.effective import policy_to_document
from descheduler.policy.load import load_policy

from .builders import KOORDINATOR, UPSTREAM

WORDS = """
    apiVersion kind profiles name plugins pluginConfig args enabled disabled filter deschedule balance evict
    nodeSelector namespaces include labelSelector thresholds matchExpressions key operator values metricsProviders
    source prometheus
    url minPodAge priorityThreshold podProtections leaderElection healthzBindAddress compatibility
"""
KEYS = st.sampled_from(WORDS.split())
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(["descheduler/v1alpha2", "DeschedulerPolicy", "DeschedulerConfiguration", "*", "5m", "a in ("])
    | st.sampled_from(sorted(REGISTRY))
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=25,
)
FRAGMENTS = st.lists(
    st.sampled_from(
        ["- ", "  ", "\n", ": ", "{", "}", "[", "]", ",", "&a ", "*a", "'", '"', "|\n", "? ", "<<", "!!int "]
    )
    | KEYS
    | st.sampled_from(
        ["\t", "\x00", "\x85", "\ufeff", "é", "\U0001f600", "...\n", "---\n", "# ", "1", ".nan", "%YAML 9"]
    )
)


def lines_about(source: str | dict[str, object]) -> list[str]:
    """The policy as text, or its problems; any other exception fails the test."""
    try:
        return [repr(policy_to_document(load_policy(source, REGISTRY)))]
    except PolicyError as error:
        return [str(problem) for problem in error.problems]


def is_answer(lines: list[str]) -> bool:
    """Whether something was said, and nothing that could upset a terminal."""
    return bool(lines) and all(line.isprintable() for line in lines)


@given(st.sampled_from(["", UPSTREAM, KOORDINATOR, "{", '{"a":']), FRAGMENTS)
@example("", ["\ud800"])
@example('{"a":', ['"\\ud800"}'])
def test_any_text_loads_or_is_refused(start: str, fragments: list[str]) -> None:
    assert is_answer(lines_about(start + "".join(fragments)))


@pytest.mark.long
@given(st.sampled_from(["DeschedulerPolicy", "DeschedulerConfiguration"]), st.dictionaries(KEYS, VALUES, max_size=6))
def test_any_object_loads_or_is_refused(kind: str, members: dict[str, object]) -> None:
    assert is_answer(lines_about({**members, "apiVersion": "descheduler/v1alpha2", "kind": kind}))


@pytest.mark.long
@given(st.sampled_from(sorted(REGISTRY)), VALUES)
def test_any_arguments_load_or_are_refused(plugin: str, args: object) -> None:
    profile = {"name": "p", "pluginConfig": [{"name": plugin, "args": args}]}
    kind = "DeschedulerConfiguration" if REGISTRY[plugin].native else "DeschedulerPolicy"

    assert is_answer(lines_about({"apiVersion": "descheduler/v1alpha2", "kind": kind, "profiles": [profile]}))
