"""The one Secret a policy may name: the bearer token for Prometheus."""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING

import msgspec

from descheduler.kube.errors import ApiError
from descheduler.transport.errors import ExchangeError
from descheduler.transport.header_values import bearer

if TYPE_CHECKING:
    from descheduler.kube.client import KubeClient

__all__ = ["read_prometheus_token"]

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
