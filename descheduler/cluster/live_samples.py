"""Usage samples from Prometheus, one query a request, for the strategies that measure by them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from descheduler.kube.client import KubeClient
from descheduler.kube.prometheus import PrometheusClient, read_service_account_token
from descheduler.kube.secrets import read_prometheus_token
from descheduler.model.text.urls import is_https
from descheduler.transport.errors import ExchangeError

__all__ = ["NodeSamples", "read_node_samples"]


class NodeSamples(msgspec.Struct, frozen=True):
    """Query → node name, or `namespace/name` of a pod → sample.

    A query that failed has a sentence in `faults` instead.
    """

    by_query: Mapping[str, Mapping[str, float]]
    faults: Mapping[str, str] = msgspec.field(default_factory=dict)
    warnings: tuple[str, ...] = ()


def read_node_samples(
    client: KubeClient, url: str, queries: Iterable[str], *, token_secret: tuple[str, str] | None
) -> NodeSamples:
    """The samples of `queries` from the Prometheus server at `url`.

    `token_secret` names the namespace and the Secret that hold the bearer token; without it the token of the service
    account is used, where there is one, but never over plain http: it is not meant for whoever listens
    there. A failure concerns only the strategy that asked, so none is raised.
    """
    by_query: dict[str, Mapping[str, float]] = {}
    faults: dict[str, str] = {}
    warnings: list[str] = []
    try:
        token = _token(client, url, token_secret)
    except ExchangeError as error:
        return NodeSamples({}, dict.fromkeys(queries, str(error)))
    for query in dict.fromkeys(queries):
        try:
            answer = PrometheusClient(url, token).query(query)
        except ExchangeError as error:
            faults[query] = f"prometheus query {query!r}: {error}"
            continue
        by_query[query] = answer.by_node
        warnings += answer.warnings
    return NodeSamples(by_query, faults, tuple(warnings))


def _token(client: KubeClient, url: str, token_secret: tuple[str, str] | None) -> str:
    if token_secret is not None:
        return read_prometheus_token(client, *token_secret)
    return read_service_account_token() if is_https(url) else ""
