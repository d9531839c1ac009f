"""Single pods as the API server has them now."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.kube.objects import ObjectCalls
from descheduler.migration.pods import read_pod, read_whole_pod
from descheduler.transport.errors import TransportError
from tests.builders import pod_object
from tests.living.cluster import LivingCluster
from tests.living.faults import FaultyWay

POD = pod_object("web", namespace="shop")


def objects(*found: Any, way: FaultyWay | None = None) -> ObjectCalls:
    return ObjectCalls(LivingCluster(found, acts=False).client(passage=way))


def test_pod_is_read_by_its_name() -> None:
    found = read_pod(objects(POD), "shop", "web")

    assert found is not None
    assert found.name == "web"
    assert read_pod(objects(), "shop", "web") is None


@pytest.mark.parametrize(("namespace", "name"), [("a/b", "web"), ("shop", "../web"), ("", "web"), ("shop", "")])
def test_name_that_no_pod_can_have_leads_nowhere(namespace: str, name: str) -> None:
    cluster = LivingCluster([POD], acts=False)

    assert read_pod(ObjectCalls(cluster.client()), namespace, name) is None
    assert cluster.api.calls == []


class Answering(ObjectCalls):
    """Answers each look with this."""

    def __init__(self, text: bytes) -> None:
        self._text = text

    def read(self, path: str, decode: Any) -> Any:
        """The answer, as it is decoded."""
        try:
            return decode(self._text)
        except (ValueError, LookupError) as error:
            raise TransportError(str(error)) from error


@pytest.mark.parametrize(
    "text",
    [b'{"metadata": {"uid": ""}, "spec": {"a": 1}}', b'{"metadata": {"uid": "u"}, "spec": {}}', b'{"metadata": {}}'],
)
def test_answer_without_a_uid_or_a_spec_is_no_pod(text: bytes) -> None:
    with pytest.raises(TransportError):
        read_whole_pod(Answering(text), "shop", "web")


def test_whole_pod_is_read_with_all_that_it_states() -> None:
    found = read_whole_pod(objects(POD), "shop", "web")

    assert found is not None
    assert found["spec"]["containers"] == POD["spec"]["containers"]
