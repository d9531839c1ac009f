"""Values of the chart hold at most one policy."""

from __future__ import annotations

import json

import pytest

from descheduler.documents.document import Document, DocumentError, member_text, to_plain
from descheduler.documents.helm_values import policy_in_values
from descheduler.documents.yaml_document import parse_yaml, parse_yaml_documents
from tests.builders import Object


def parsed(text: str) -> Document:
    return parse_yaml(text, "values.yaml")


def test_policy_in_values_is_the_only_one() -> None:
    text = "deschedulerPolicy: {nodeSelector: a=b}\n"

    found = policy_in_values("values.yaml", text, [parsed(text).root], parsed)

    assert found is not None
    assert member_text(found.root, "nodeSelector") == "a=b"
    assert policy_in_values("values.yaml", "a: 1\n", [parsed("a: 1\n").root], parsed) is None
    with pytest.raises(DocumentError, match="holds values with several policies"):
        policy_in_values("values.yaml", text, [parsed(text).root, parsed(text).root], parsed)


def found(text: str) -> object:
    """The policy in the values of `text`, None for none."""
    document = policy_in_values("x", text, parse_yaml_documents(text), parsed)
    return None if document is None else to_plain(document.root)


POLICY = {"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerPolicy", "a": 1}
VALUES = {"deschedulerPolicy": {"a": 1}}
RELEASE = {"kind": "HelmRelease", "spec": {"values": VALUES}}


def application(**helm: object) -> Object:
    return {"kind": "Application", "spec": {"sources": [{}, {"helm": helm}]}}


@pytest.mark.parametrize(
    "holder",
    [
        pytest.param(VALUES, id="values"),
        pytest.param(VALUES | {"kind": "CronJob"}, id="values that name a kind"),
        pytest.param({"descheduler": VALUES}, id="values of a chart above"),
        pytest.param(RELEASE, id="a HelmRelease"),
        pytest.param(application(valuesObject=VALUES), id="an Application"),
        pytest.param(application(values=json.dumps(VALUES)), id="an Application with text"),
        pytest.param({"kind": "ApplicationSet", "spec": {"template": application(valuesObject=VALUES)}}, id="a set"),
        pytest.param({"kind": "List", "items": [{"kind": "Secret"}, RELEASE]}, id="a List"),
    ],
)
def test_policy_is_found_wherever_values_stand(holder: Object) -> None:
    assert found(json.dumps(holder)) == POLICY


@pytest.mark.parametrize(
    "holder",
    [
        pytest.param({"kind": "Secret", "a": VALUES}, id="another kind"),
        pytest.param({"deschedulerPolicy": "text"}, id="a policy that is text"),
        pytest.param(application(values=" "), id="empty values"),
        pytest.param(application(values=5), id="values that are a number"),
        pytest.param({"a": {"b": VALUES}}, id="values too far down"),
        pytest.param({"deschedulerPolicy": 5, "b": VALUES}, id="values below those of the chart"),
        pytest.param([VALUES], id="a list"),
    ],
)
def test_no_policy_is_found_elsewhere(holder: object) -> None:
    assert found(json.dumps(holder)) is None


def test_version_and_kind_may_stand_beside_the_policy() -> None:
    beside = "deschedulerPolicyAPIVersion: v\ndeschedulerPolicyKind: k\n"

    assert found(beside + "deschedulerPolicy: {a: 1}") == {"apiVersion": "v", "kind": "k", "a": 1}
    assert found(beside + "deschedulerPolicy: {kind: own}") == {"apiVersion": "v", "kind": "own"}
