"""One key of a ConfigMap is changed, and refusals name the way out."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.kube.client import KubeClient
from descheduler.kube.errors import ApiError
from descheduler.kube.stored_object import ConfigMapStore
from descheduler.transport.errors import ExchangeError, TransportError
from tests.integration.fake_api import FakeApi
from tests.integration.fake_objects import CONFIG_MAPS
from tests.integration.faults import failure

NAME = "descheduler-memory"


def store(client: KubeClient) -> ConfigMapStore:
    return ConfigMapStore(client, "kube-system", NAME)


def test_a_missing_map_is_created_with_the_key(fake_api: FakeApi, client: KubeClient) -> None:
    store(client).update("mine", lambda before: f"{before}new")

    (request,) = fake_api.sent("POST", "configmaps")
    assert request.body["data"] == {"mine": "new"}


def test_other_keys_stay(fake_api: FakeApi, client: KubeClient) -> None:
    fake_api.config_maps.put(NAME, data={"mine": "old", "theirs": "kept"})

    store(client).update("mine", lambda before: f"{before} and new")

    (request,) = fake_api.sent("PUT", NAME)
    assert request.body["data"] == {"mine": "old and new", "theirs": "kept"}


@pytest.mark.parametrize(
    "content",
    [pytest.param({"data": {"theirs": "kept"}}, id="text"), pytest.param({"binaryData": {"a": "AA=="}}, id="bytes")],
)
def test_a_map_of_others_is_left_alone(fake_api: FakeApi, client: KubeClient, content: dict[str, Any]) -> None:
    fake_api.config_maps.put(NAME, **content)

    with pytest.raises(ExchangeError, match="has no key mine and is left alone; delete it, or name another Lease"):
        store(client).update("mine", lambda before: f"{before}new")

    assert fake_api.sent("PUT", NAME) == []


@pytest.mark.parametrize(
    ("status_code", "words"),
    [
        (403, "add these rules to a Role in namespace kube-system"),
        (404, "ConfigMap kube-system/descheduler-memory cannot be created: no such namespace"),
        (422, "no such namespace"),
    ],
)
def test_a_refusal_names_the_way_out(fake_api: FakeApi, client: KubeClient, status_code: int, words: str) -> None:
    fake_api.fail_always("POST", CONFIG_MAPS, failure(status_code, "Refused", "no such namespace"))

    with pytest.raises(ApiError) as raised:
        store(client).update("mine", lambda _: "new")

    assert words in str(raised.value)
    assert ("cannot be created" in str(raised.value)) == (status_code == 404)


def test_a_map_that_keeps_changing_is_left_to_its_other_writer(fake_api: FakeApi, client: KubeClient) -> None:
    fake_api.config_maps.put(NAME, data={})
    fake_api.fail_always("PUT", f"{CONFIG_MAPS}/{NAME}", failure(409, "Conflict", "changed"))

    with pytest.raises(TransportError, match="is being changed by another client"):
        store(client).update("mine", lambda _: "new")

    assert len(fake_api.sent("PUT", NAME)) == 3
