from __future__ import annotations

import pytest

from descheduler.kube.client import KubeClient
from descheduler.kube.discovery import discover
from descheduler.transport.errors import ExchangeError
from tests.integration.fake_api import FakeApi


def test_facts_name_version_policy_and_optional_groups(fake_api: FakeApi, client: KubeClient) -> None:
    fake_api.groups["scheduling.koordinator.sh"] = "scheduling.koordinator.sh/v1alpha1"

    facts = discover(client)

    assert (facts.git_version, facts.major, facts.minor) == ("v1.36.0", "1", "36")
    assert facts.policy_version == "policy/v1"
    assert facts.groups["scheduling.koordinator.sh"] == "scheduling.koordinator.sh/v1alpha1"
    assert "metrics.k8s.io" not in facts.groups


@pytest.mark.parametrize(
    "others",
    [[], [{"name": "pods/eviction", "kind": "Pod"}], [{"name": "pods/binding", "kind": "Eviction"}]],
    ids=["none", "of another kind", "of another name"],
)
def test_server_without_the_eviction_resource_is_an_error(
    fake_api: FakeApi, client: KubeClient, others: list[dict[str, str]]
) -> None:
    fake_api.core_resources = [{"name": "pods", "kind": "Pod"}, *others]

    with pytest.raises(ExchangeError, match="does not serve pods/eviction"):
        discover(client)


def test_server_without_the_policy_group_is_an_error(fake_api: FakeApi, client: KubeClient) -> None:
    del fake_api.groups["policy"]

    with pytest.raises(ExchangeError, match="does not serve the API group policy"):
        discover(client)
