"""Bad documents: each gets one clear message, with the place."""

from __future__ import annotations

from pathlib import Path

import pytest

from descheduler.cycle.plugins import REGISTRY
from descheduler.documents.problems import PolicyError
from descheduler.policy.load import load_policy

from .builders import messages, upstream

DOCUMENTS = [
    pytest.param("- a\n", ":1:1: expected a policy object with apiVersion and kind, found a list", id="a list"),
    pytest.param("[]\n", ":1:1: expected a policy object with apiVersion and kind, found a list", id="an empty list"),
    pytest.param("hi\n", ":1:1: expected a policy object with apiVersion and kind, found a string", id="a word"),
    pytest.param(
        "apiVersion: descheduler/v1\nkind: DeschedulerPolicy\n",
        ":1:13: apiVersion: 'descheduler/v1' is not supported, only descheduler/v1alpha2",
        id="a version that does not exist",
    ),
    pytest.param(
        "apiVersion: v1alpha2\nkind: DeschedulerPolicy\n",
        ":1:13: apiVersion: 'v1alpha2' is not supported, only descheduler/v1alpha2",
        id="a version without its group",
    ),
    pytest.param("apiVersion: 1\n", ":1:13: apiVersion: expected a string, found a number", id="a version as number"),
    pytest.param("APIVERSION: 1\n", ":1:13: APIVERSION: expected a string, found a number", id="in capitals, too"),
    pytest.param(
        '{"kind": 5, "kind": "DeschedulerPolicy"}',
        ":1:10: kind: expected a string, found a number",
        id="a number first",
    ),
    pytest.param(
        '{"apiVersion": "descheduler/v1alpha2", "profiles": 5, "profiles": []}',
        ":1:52: profiles: expected a list, found number 5",
        id="a mistake under a key that is repeated",
    ),
    pytest.param(
        "apiVersion: descheduler/v1alpha2\nkind: DeschedulerPolizy\n",
        ":2:7: kind: 'DeschedulerPolizy' is not supported, only DeschedulerPolicy and DeschedulerConfiguration; "
        "did you mean 'DeschedulerPolicy'?",
        id="a kind that does not exist",
    ),
    pytest.param(
        "kind: DeschedulerConfiguration\n",
        ":1:1: apiVersion is missing; add 'apiVersion: descheduler/v1alpha2'",
        id="a configuration without a version",
    ),
    pytest.param(
        upstream("profiles:\n\t- name: p\n"),
        ":4:1: not YAML: while scanning for the next token found character that cannot start any token; "
        "the line is indented with a tab, use spaces",
        id="a tab for indentation",
    ),
    pytest.param(
        upstream("profiles: [\n"),
        ":4:1: not YAML: while parsing a flow node did not find expected node content",
        id="a bracket that is not closed",
    ),
    pytest.param(
        upstream("a: *b\n"), ":3:4: alias *b has no anchor before it, or lies within it", id="an alias without anchor"
    ),
    pytest.param(
        upstream("a: &a [*a]\n"),
        ":3:8: alias *a has no anchor before it, or lies within it",
        id="an alias within its own anchor",
    ),
    pytest.param(
        upstream("a: [b?c]\n"),
        ":3:5: holds a '?' within brackets, where YAML 1.1 begins a key; quote it",
        id="a question mark in a flow list",
    ),
    pytest.param(upstream("? [a]\n: b\n"), ":3:3: is used as a key; keys are strings", id="a list as a key"),
    pytest.param(upstream("a: !!int x\n"), ":3:4: is tagged !!int, but is not one", id="a tag that lies"),
    pytest.param(upstream("foo: .nan\n"), ":3:6: nan is not a number that Kubernetes accepts", id="not a number"),
    pytest.param(upstream("foo: [-.inf]\n"), ":3:7: -inf is not a number that Kubernetes accepts", id="infinity"),
    pytest.param(
        upstream("a: \x07\n"), ":3:4: holds the character '\\x07', which YAML does not allow", id="a control character"
    ),
    pytest.param("a\0b", ": holds NUL characters, so it is not text; a policy is YAML or JSON", id="binary"),
    pytest.param(
        "{a: 1}",
        ":1:2: not JSON (the text begins with a brace): expected a key in double quotes, found 'a'",
        id="braces without quotes",
    ),
    pytest.param(
        '{"a": 1',
        ":1:8: not JSON (the text begins with a brace): expected ',' or '}', found the end of the text; "
        "is a bracket or brace missing?",
        id="cut off JSON",
    ),
    pytest.param(
        '{"a": 1}\n{}',
        ":2:1: not JSON (the text begins with a brace): more text after the end of the document, found '{'",
        id="two JSON documents",
    ),
    pytest.param(
        '{"a": 1e999}', ":1:7: inf is not a number that Kubernetes accepts", id="a JSON number beyond all floats"
    ),
]

OUTER_FIELDS = [
    pytest.param(
        upstream("maxNoOfPodsToEvictTotal: -1\n"), ":3:26: maxNoOfPodsToEvictTotal: -1 is below 0", id="negative limit"
    ),
    pytest.param(
        upstream("maxNoOfPodsToEvictTotal: 2.5\n"),
        ":3:26: maxNoOfPodsToEvictTotal: expected a whole number, found number 2.5",
        id="a fraction of a pod",
    ),
    pytest.param(
        upstream("maxNoOfPodsToEvictTotal: -0.0\n"),
        ":3:26: maxNoOfPodsToEvictTotal: expected a whole number, found number -0.0",
        id="minus zero pods",
    ),
    pytest.param(
        upstream("maxNoOfPodsToEvictTotal: '5'\n"),
        ":3:26: maxNoOfPodsToEvictTotal: '5' is neither a number nor a percentage such as '10%'",
        id="a limit in quotes",
    ),
    pytest.param(
        upstream("maxNoOfPodsToEvictTotal: 18446744073709551616\n"),
        ":3:26: maxNoOfPodsToEvictTotal: 18446744073709551616 is above 18446744073709551615",
        id="a limit beyond 64 bits",
    ),
    pytest.param(
        upstream("evictionFailureEventNotification: 'true'\n"),
        ":3:35: evictionFailureEventNotification: expected true or false, found the string 'true'",
        id="a boolean in quotes",
    ),
    pytest.param(upstream("profiles: {}\n"), ":3:11: profiles: expected a list, found an object", id="profiles as map"),
    pytest.param(
        upstream("profiles:\n- name: p\n  plugins:\n    deschedule:\n      enabled: [{name: PodLifeTime}]\n"),
        ":7:17: profiles[0].plugins.deschedule.enabled[0]: expected a string, found an object",
        id="enabled plugins as objects",
    ),
    pytest.param(
        upstream("nodeSelector: 'a in (b'\n"),
        ":3:15: nodeSelector: label selector 'a in (b': the list of values is not closed",
        id="a node selector that does not parse",
    ),
    pytest.param(
        upstream("compatibility: fixd\n"),
        ":3:16: compatibility: 'fixd' is not one of upstream, fixed; did you mean 'fixed'?",
        id="an unknown compatibility",
    ),
    pytest.param(
        upstream("metricsProviders:\n- source: Prometheus\n"),
        ":4:3: metricsProviders[0].prometheus: is missing, but source Prometheus needs it; give it a url",
        id="prometheus without settings",
    ),
    pytest.param(
        upstream("metricsProviders:\n- source: Prometheus\n  prometheus: {url: 'http://x:-80'}\n"),
        ":5:21: metricsProviders[0].prometheus.url: 'http://x:-80' has an invalid port ':-80' after the host",
        id="prometheus with a negative port",
    ),
    pytest.param(
        upstream("metricsProviders:\n- source: Prometheus\n  prometheus: {url: 'http://ops:s3cr3t@x:-80'}\n"),
        ":5:21: metricsProviders[0].prometheus.url: 'http://***@x:-80' has an invalid port after the host",
        id="prometheus with a password and a negative port",
    ),
    pytest.param(
        upstream("metricsProviders:\n- source: Prometheus\n  prometheus: 'http://ops:s3cr3t@x'\n"),
        ":5:15: metricsProviders[0].prometheus: expected an object, found the string 'http://***@x'",
        id="prometheus as a URL alone",
    ),
    pytest.param(
        upstream("metricsProviders:\n- source: Prometheus\n  prometheus: {url: 'http://ops:s3/cr3t@x'}\n"),
        ":5:21: metricsProviders[0].prometheus.url: 'http://***@x' has an invalid port after the host",
        id="prometheus with a password that is not escaped",
    ),
    pytest.param(
        upstream(
            "metricsProviders:\n- source: Prometheus\n"
            "  prometheus: {url: 'http://x', authToken: {secretReference: {name: a}}}\n"
        ),
        ":5:62: metricsProviders[0].prometheus.authToken.secretReference: needs both a name and a namespace",
        id="a secret without namespace",
    ),
    pytest.param(
        upstream("metricsProviders:\n- source: KubernetesMetrics\n- source: KubernetesMetrics\n"),
        ":5:11: metricsProviders[1].source: 'KubernetesMetrics' is configured twice; keep one of them",
        id="a metrics source twice",
    ),
    pytest.param(
        upstream("metricsCollector: {enabled: true}\nmetricsProviders:\n- source: KubernetesMetrics\n"),
        ":5:3: metricsProviders[0]: cannot be used with metricsCollector.enabled; remove the latter",
        id="a metrics provider next to the collector",
    ),
]


@pytest.mark.parametrize(("text", "message"), [*DOCUMENTS, *OUTER_FIELDS])
def test_bad_policy_gets_one_message_with_its_place(text: str, message: str) -> None:
    assert messages(text) == [f"policy.yaml{message}"]


def test_problems_of_all_profiles_are_reported_together_in_document_order() -> None:
    text = upstream(
        """\
        maxNoOfPodsToEvictTotal: many
        profiles:
        - name: a
          pluginConfig:
          - name: RemoveFailedPods
            args: {foo: 1, minPodLifetimeSeconds: old}
        - name: b
          pluginConfig:
          - name: PodLifeTime
            args: {states: [Foo]}
          plugins:
            deschedule: {enabled: [Nope]}
        """
    )

    found = messages(text)

    places = [message.split(": ")[0] for message in found]
    assert places == [f"policy.yaml:{at}" for at in ("3:26", "8:12", "8:43", "12:21", "14:28")]


def test_object_gets_messages_without_line_and_column() -> None:
    document = {"apiVersion": "descheduler/v1alpha2", "maxNoOfPodsToEvictTotal": -1}

    with pytest.raises(PolicyError) as caught:
        load_policy(document, REGISTRY)

    assert str(caught.value) == "<policy>: maxNoOfPodsToEvictTotal: -1 is below 0"
    assert caught.value.problems[0].line is None


@pytest.mark.parametrize(
    ("document", "message"),
    [
        pytest.param({"a": float("nan")}, "nan is not a number that Kubernetes accepts", id="not a number"),
        pytest.param({1: "a"}, "has the key 1; keys are strings", id="a number as a key"),
        pytest.param({"a": {1, 2}}, "holds a set; a policy holds only the types of JSON", id="a set"),
        pytest.param({"a": 10**5000}, "holds a number of 16610 bits", id="a huge number"),
    ],
)
def test_object_that_json_cannot_hold_is_refused(document: dict[str, object], message: str) -> None:
    with pytest.raises(PolicyError) as caught:
        load_policy(document, REGISTRY)

    assert str(caught.value) == f"<policy>: {message}"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(b"a: \xff\xfe\n", "{path}:1:4: byte 0xff is not UTF-8; save the policy as UTF-8", id="latin text"),
        pytest.param(
            b"\x7fELF\0\0",
            "{path}: holds NUL bytes, so it is not a text file; a policy is YAML or JSON in UTF-8",
            id="binary",
        ),
        pytest.param(b"\x1f\x8b\x08", "{path}: is compressed with gzip; unpack it first", id="gzip"),
        pytest.param(b"#" * 5_000_000, "{path}: is larger than 4 MiB; no policy needs that", id="too large a file"),
    ],
)
def test_file_that_is_no_policy_is_refused(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "policy.yaml"
    path.write_bytes(content)

    with pytest.raises(PolicyError) as caught:
        load_policy(path, REGISTRY)

    assert str(caught.value) == message.format(path=path)


def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match=r"nothing\.yaml: no such file; name the policy file to read$"):
        load_policy(tmp_path / "nothing.yaml", REGISTRY)


def test_directory_is_named(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match=r"is a directory; name the policy file in it$"):
        load_policy(tmp_path, REGISTRY)
