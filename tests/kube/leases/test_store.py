from __future__ import annotations

from typing import Any

import pytest

from descheduler.kube.client import KubeClient
from descheduler.kube.errors import ApiError, credentials_refused
from descheduler.kube.leases.store import LeaseStore
from descheduler.transport.errors import TransportError
from tests.integration.fake_api import FakeApi
from tests.integration.fake_leases import LEASES
from tests.integration.faults import Answer, failure

NAME = {"name": "d", "namespace": "kube-system"}


def lease(**changes: Any) -> dict[str, Any]:
    return {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": NAME, "spec": {}} | changes


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        pytest.param(Answer(200, failure(404, "NotFound", "gone").body), "a Status: gone", id="a Status"),
        pytest.param(Answer(200, lease(kind="ConfigMap")), "a ConfigMap", id="another kind"),
        pytest.param(Answer(200, lease(apiVersion="v1")), "a Lease of v1", id="another group"),
        pytest.param(Answer(200, lease(metadata=NAME | {"name": "e"})), "not this Lease", id="another name"),
        pytest.param(Answer(200, {"metadata": NAME, "spec": {}}), "JSON without a kind", id="no kind"),
        pytest.param(Answer(206, lease()), "HTTP status 206", id="a part"),
        pytest.param(Answer(200, b"<html>sign in</html>"), "HTML", id="a page for people"),
        pytest.param(Answer(200, b""), "empty", id="nothing"),
    ],
)
def test_answer_that_is_not_the_lease_is_not_taken_for_a_free_one(
    fake_api: FakeApi, client: KubeClient, answer: Answer, found: str
) -> None:
    fake_api.fail_next("GET", f"{LEASES}/d", answer)

    with pytest.raises(TransportError, match=f"GET of lease kube-system/d: .*{found}"):
        LeaseStore(client, "kube-system", "d").read()


def test_refused_credentials_are_told_in_the_words_of_other_calls(fake_api: FakeApi, client: KubeClient) -> None:
    fake_api.fail_always("GET", f"{LEASES}/d", failure(401, "Unauthorized", "Unauthorized"))
    path = f"{LEASES}/d"

    with pytest.raises(ApiError) as of_a_get:
        client.fetch(path, bytes)
    with pytest.raises(ApiError) as of_the_lease:
        LeaseStore(client, "kube-system", "d").read()

    assert str(of_the_lease.value) == f"GET of lease kube-system/d: {of_a_get.value}"


def test_sentence_on_refused_credentials_has_a_way_out() -> None:
    assert credentials_refused("https://api") == (
        "https://api does not accept the credentials (401); renew the credentials or choose another --context"
    )
