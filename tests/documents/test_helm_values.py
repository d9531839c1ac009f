"""Values of the chart hold at most one policy."""

from __future__ import annotations

import pytest

from descheduler.documents.document import Document, DocumentError, member_text
from descheduler.documents.helm_values import policy_in_values
from descheduler.documents.yaml_document import parse_yaml


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
