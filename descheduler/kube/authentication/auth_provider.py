"""The token of an `auth-provider`, an entry of old kubeconfigs, as the official client gets and renews it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from descheduler.kube.authentication.credentials import Credentials, Issued, RenewedCredentials
from descheduler.kube.errors import KubeConfigError
from descheduler.kube.http.header_values import bearer

if TYPE_CHECKING:
    from kubernetes.client import Configuration

__all__ = ["provider_credentials"]

_PROVIDER_SECONDS = 10.0
"""How often an `auth-provider` is asked whether its token has expired, which it finds out without a call."""


def provider_credentials(server: str, provider: Mapping[str, object]) -> Credentials:
    """What the entry `provider` gives for `server`. Raises whatever the official client does."""
    # It takes a fifth of a second to import, which nobody else is to pay for.
    from kubernetes.client import Configuration
    from kubernetes.config import load_kube_config_from_dict

    entry = {"name": "chosen"}
    document = {
        "current-context": "chosen",
        "contexts": [{**entry, "context": {"cluster": "chosen", "user": "chosen"}}],
        "clusters": [{**entry, "cluster": {"server": server}}],
        "users": [{**entry, "user": {"auth-provider": dict(provider)}}],
    }
    configuration = Configuration()
    load_kube_config_from_dict(  # type: ignore[no-untyped-call]  # as the client is
        document, context="chosen", client_configuration=configuration, persist_config=False
    )
    return RenewedCredentials(lambda: _token(configuration))


def _token(configuration: Configuration) -> Issued:
    """What the client's code gives as of now, renewed by it when it has expired."""
    owner = "the token of the kubeconfig's auth-provider"
    try:
        setting = configuration.auth_settings().get("BearerToken")
    except Exception:  # whatever a provider does; its text may hold the token
        raise KubeConfigError(f"{owner} cannot be renewed; log in again") from None
    value = str(setting["value"] or "") if setting else ""
    return Issued(bearer(value.removeprefix("Bearer "), owner), _PROVIDER_SECONDS)
