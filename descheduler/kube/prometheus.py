"""Node usage from Prometheus: one instant query, one figure in 0..1 a node; and the one Secret a policy may name for
it.
"""

from __future__ import annotations

import base64
import binascii
import math
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import msgspec
import urllib3

from descheduler.kube.authentication.configuration import SERVICE_ACCOUNT_CA, SERVICE_ACCOUNT_TOKEN
from descheduler.kube.authentication.credentials import read_token
from descheduler.kube.errors import ApiError
from descheduler.model.text.urls import is_https, is_web_url, shown_url, split_userinfo
from descheduler.transport.answer import RawResponse, without_credentials
from descheduler.transport.errors import ExchangeError
from descheduler.transport.exchange import exchange
from descheduler.transport.header_values import bearer
from descheduler.transport.timed_connections import keep_to_time, whole_answer

if TYPE_CHECKING:
    from descheduler.kube.client import KubeClient

_KEY = "prometheusAuthToken"


class _Secret(msgspec.Struct):
    # Only this key is decoded, so that no other value of the Secret is ever held.
    data: _SecretData | None = None


class _SecretData(msgspec.Struct):
    token: str = msgspec.field(default="", name=_KEY)

    def __repr__(self) -> str:
        return "_SecretData(token=...)"


_decode_secret = msgspec.json.Decoder(_Secret).decode


def read_prometheus_token(client: KubeClient, namespace: str, name: str) -> str:
    """The text under `prometheusAuthToken` of the named Secret, and of no other.

    Raises ExchangeError, which never holds the value, when the Secret, the key or the right to read it is missing, and
    when no header field can carry the value.
    """
    subject = f"secret {namespace}/{name}"
    try:
        path = f"/api/v1/namespaces/{namespace}/secrets/{name}"
        secret = client.fetch(path, _decode_secret)
    except ApiError as error:
        raise _unreadable(subject, error) from error
    encoded = secret.data.token if secret.data is not None else ""
    try:
        token = base64.b64decode(encoded, validate=True).decode().strip()
    except (binascii.Error, UnicodeDecodeError):
        raise ExchangeError(f"{subject}: key {_KEY} does not hold base64 text") from None
    if not token:
        raise ExchangeError(f"{subject}: key {_KEY} is missing or empty; put the bearer token for prometheus there")
    bearer(token, f"{subject}: key {_KEY}")
    return token


def _unreadable(subject: str, error: ApiError) -> ExchangeError:
    match error.status_code:
        case 404:
            return ExchangeError(f"{subject} does not exist; create it or take authToken out of the policy")
        case 403:
            return ExchangeError(f"not allowed to read {subject} (RBAC); grant the verb get on it in a Role")
        case _:
            return error


_OK = 200
_MOST_BYTES = 64 << 20
"""Most of an answer of Prometheus: 20,000 nodes with 3.3 KB of labels each."""
_MOST_OF_POD = 2.0**63


class UsageRatios(msgspec.Struct, frozen=True):
    """`by_node` maps the label `instance` to a usage ratio in 0..1, or a pod's `namespace/name` to what it uses.

    `warnings` are Prometheus's own sentences.
    """

    by_node: Mapping[str, float]
    warnings: tuple[str, ...]


class _Sample(msgspec.Struct):
    metric: dict[str, str]
    value: tuple[float, str]


_decode_sample = msgspec.json.Decoder(_Sample).decode


class _Vector(msgspec.Struct, rename="camel"):
    result_type: str = ""
    result: msgspec.Raw = msgspec.Raw(b"null")


class _Answer(msgspec.Struct, rename="camel"):
    status: str
    data: _Vector = msgspec.field(default_factory=_Vector)
    error_type: str = ""
    error: str = ""
    warnings: list[str] | None = None


_decode_samples = msgspec.json.Decoder(list[msgspec.Raw]).decode


_decode_answer = msgspec.json.Decoder(_Answer).decode


@dataclass(frozen=True, slots=True)
class PrometheusClient:
    """Asks one Prometheus server at `url` (http or https, a path prefix is kept).

    User and password in `url` are sent as basic authentication and come before `token`, as with Go's `http.Client`.
    `token` is sent as bearer token, "" sends none. `ca_file` holds the only trusted roots when it exists, else the
    system's roots are trusted; an http address needs neither.
    """

    url: str = field(repr=False)
    token: str = field(default="", repr=False)
    ca_file: Path = SERVICE_ACCOUNT_CA
    timeout_seconds: float = 30.0

    def __post_init__(self) -> None:
        if not is_web_url(self.url):
            raise ExchangeError(
                f"prometheus address {shown_url(self.url)!r} is not an address such as https://prometheus:9090"
            )

    def query(self, promql: str) -> UsageRatios:
        """The latest ratio of every node that `promql` has a sample for; of several samples a node the last counts.

        A sample with the labels `namespace` and `pod` and without `instance` is one of a pod, of any size from 0 on.

        Raises SettingsError for a token that cannot be sent, TransportError, ApiError for an HTTP failure, and
        ExchangeError naming the sample that is out of 0..1, not
        a number or without the label `instance`, or naming the type of a result that is not a vector.
        """
        with self._pool() as pool:
            response = self._send(pool, "POST", promql)
            if response.status_code in {405, 501}:  # some proxies in front of Prometheus let only GET through
                response = self._send(pool, "GET", promql)
        return _ratios(self._decode(response))

    def _pool(self) -> urllib3.PoolManager:
        if not is_https(self.url):
            return keep_to_time(urllib3.PoolManager())
        roots = str(self.ca_file) if self.ca_file.exists() else None
        try:
            return keep_to_time(urllib3.PoolManager(ssl_context=ssl.create_default_context(cafile=roots)))
        except (ssl.SSLError, OSError) as error:
            raise ExchangeError(
                f"certificate authority {roots} cannot be used for prometheus; put PEM text there"
            ) from error

    def _send(self, pool: urllib3.PoolManager, method: str, promql: str) -> RawResponse:
        headers = {"Accept": "application/json", "Content-Type": "application/x-www-form-urlencoded"}
        server = split_userinfo(self.url)
        if authorization := server.authorization or bearer(self.token, "the token for prometheus"):
            headers["Authorization"] = authorization
        url, form = f"{server.url.rstrip('/')}/api/v1/query", urlencode({"query": promql})
        answer = exchange(
            lambda: pool.request(
                method,
                url if method == "POST" else f"{url}?{form}",
                body=form.encode() if method == "POST" else None,
                headers=headers,
                timeout=whole_answer(self.timeout_seconds),
                retries=False,
                redirect=False,
                preload_content=False,
                enforce_content_length=True,
            ),
            what=f"prometheus query to {shown_url(self.url)}",
            timeout_seconds=self.timeout_seconds,
            max_bytes=_MOST_BYTES,
        )
        return without_credentials(answer, authorization)

    def _decode(self, response: RawResponse) -> _Answer:
        try:
            answer = _decode_answer(response.body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            answer = _Answer(status="error", error=response.phrase)
        if response.status_code == _OK and answer.status == "success":
            return answer
        why = f"{answer.error or response.phrase} ({response.status_code})"
        raise ApiError(
            f"prometheus query to {shown_url(self.url)} failed: {why}",
            status_code=response.status_code,
            reason=answer.error_type,
        )


def read_service_account_token(file: Path = SERVICE_ACCOUNT_TOKEN) -> str:
    """The token of the service account this runs as, read again each time; "" outside a pod. Raises SettingsError."""
    return read_token(file, "the service account token") if file.exists() else ""


def _ratios(answer: _Answer) -> UsageRatios:
    if answer.data.result_type != "vector":
        raise ExchangeError(
            f"prometheus answered with a {answer.data.result_type or 'result of no type'}, a vector with one sample "
            "for each node is required; change the query"
        )
    try:
        # One sample at a time: the labels of all of them take ten times the memory of their text.
        samples = _decode_samples(answer.data.result)
        by_node = dict(_figure(_decode_sample(sample)) for sample in samples)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ExchangeError(f"prometheus answered with a vector that does not decode ({error})") from error
    return UsageRatios(by_node, tuple(answer.warnings or ()))


def _figure(sample: _Sample) -> tuple[str, float]:
    labels = sample.metric
    if node := labels.get("instance"):
        return node, _number(sample.value[1], f"instance {node!r}", 1, "from 0 to 1")
    if labels.get("namespace") and labels.get("pod"):
        pod = f"{labels['namespace']}/{labels['pod']}"
        return pod, _number(sample.value[1], f"pod {pod!r}", _MOST_OF_POD, "from 0 on")
    shown = ", ".join(f'{name}="{text}"' for name, text in sorted(labels.items()))
    raise ExchangeError(
        f"prometheus sample {{{shown}}} has no label instance; the query must keep it with the name of the node"
    )


def _number(text: str, whose: str, most: float, bounds: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 <= number <= most:  # false for NaN too
        raise ExchangeError(f"prometheus sample of {whose} is {text}, the query must give values {bounds}")
    return number
