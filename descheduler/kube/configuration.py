"""Where the API server is and how to prove who asks: kubeconfig or service account, through the official client."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import urllib3

from descheduler.kube.errors import KubeConfigError
from descheduler.kube.kubeconfig_file import ChosenContext, choose_context

if TYPE_CHECKING:
    from kubernetes.client import ApiClient, Configuration

__all__ = ["SERVICE_ACCOUNT_CA", "SERVICE_ACCOUNT_TOKEN", "ClientConnection", "load_connection"]

SERVICE_ACCOUNT_TOKEN = Path("/var/run/secrets/kubernetes.io/serviceaccount/token")
"""The token that the kubelet keeps fresh in every pod that wants one."""

SERVICE_ACCOUNT_CA = Path("/var/run/secrets/kubernetes.io/serviceaccount/ca.crt")
"""The certificate authority of the cluster, next to the token."""

# One more than the executor ever has in flight, so that no connection is thrown away and opened anew.
_POOL_SIZE = 65


@dataclass(frozen=True, slots=True)
class ClientConnection:
    """Address, pool and credentials of a configured `kubernetes.client.ApiClient`; renews tokens as that does."""

    client: ApiClient

    @property
    def host(self) -> str:
        """Base URL of the API server."""
        return str(self.client.configuration.host).rstrip("/")

    @property
    def pool(self) -> urllib3.PoolManager:
        """The client's connection pool, with the TLS and proxy settings of the configuration."""
        pool: urllib3.PoolManager = self.client.rest_client.pool_manager
        return pool

    def auth_headers(self) -> Mapping[str, str]:
        """The current credentials as header fields; a token past its time is read or fetched anew first."""
        settings = self.client.configuration.auth_settings().values()
        return {setting["key"]: setting["value"] for setting in settings if setting["in"] == "header"}


def load_connection(
    kubeconfig: str | None, context: str | None, *, environ: Mapping[str, str] = os.environ
) -> ClientConnection:
    """The connection that the arguments ask for, as kubectl would choose it.

    An explicit kubeconfig (several files joined as in KUBECONFIG) comes first, then KUBECONFIG, then the service
    account of the pod this runs in, then ~/.kube/config. With a `context` the service account is passed over.
    Raises KubeConfigError.
    """
    named = kubeconfig or environ.get("KUBECONFIG") or ""
    files = [Path(part).expanduser() for part in named.split(os.pathsep) if part]
    if not kubeconfig:
        # As kubectl: KUBECONFIG may list files that are not there yet, a file named on the command line must exist.
        files = [file for file in files if file.exists()] or files
    if not files and context is None and environ.get("KUBERNETES_SERVICE_HOST") and SERVICE_ACCOUNT_TOKEN.exists():
        return _connection(_in_cluster())
    if not files:
        files = [_home_kubeconfig(environ)]
    return _connection(_from_files(choose_context(files, context)))


def _connection(configuration: Configuration) -> ClientConnection:
    from kubernetes.client import ApiClient

    try:
        return ClientConnection(ApiClient(configuration))
    except (ValueError, ImportError) as error:
        # Only the proxy is looked at so far; its URL may hold a password, and is not repeated.
        raise KubeConfigError(
            "the proxy, from proxy-url of the kubeconfig or from HTTPS_PROXY, cannot be used: it must be a URL such as "
            "http://host:3128"
        ) from error


def _home_kubeconfig(environ: Mapping[str, str]) -> Path:
    file = Path(environ.get("HOME") or "~").expanduser() / ".kube" / "config"
    if not file.exists():
        raise KubeConfigError(
            f"no cluster to talk to: neither {file} nor a service account is there; "
            "name a kubeconfig with --kubeconfig or KUBECONFIG, or work on a dump with --snapshot"
        )
    return file


def _in_cluster() -> Configuration:
    from kubernetes.client import Configuration
    from kubernetes.config import ConfigException, load_incluster_config

    configuration = Configuration()
    configuration.connection_pool_maxsize = _POOL_SIZE
    try:
        load_incluster_config(client_configuration=configuration)  # type: ignore[no-untyped-call]  # as the client is
    except (ConfigException, OSError) as error:
        raise KubeConfigError(f"service account cannot be used: {str(error).lower().rstrip('.')}") from error
    return configuration


def _from_files(chosen: ChosenContext) -> Configuration:
    from kubernetes.client import Configuration
    from kubernetes.config import ConfigException, load_kube_config

    configuration = Configuration()
    configuration.connection_pool_maxsize = _POOL_SIZE
    try:
        load_kube_config(  # type: ignore[no-untyped-call]  # as the client is
            config_file=os.pathsep.join(str(file) for file in chosen.files),
            context=chosen.name,
            client_configuration=configuration,
            persist_config=False,
        )
    except (ConfigException, OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        # Not chained and not quoted: the client's texts hold whole entries of the file, credentials included.
        raise KubeConfigError(_unusable(chosen, error)) from None
    if chosen.exec_command is not None and not configuration.auth_settings() and not configuration.cert_file:
        raise KubeConfigError(
            f"{_where(chosen)}: credential plugin {chosen.exec_command!r} of user {chosen.user_name!r} gave no "
            "credentials; run it by hand to see why"
        )
    return configuration


def _where(chosen: ChosenContext) -> str:
    return "kubeconfig " + ", ".join(str(file) for file in chosen.files)


def _unusable(chosen: ChosenContext, error: Exception) -> str:
    missing = "File does not exist: "
    text = str(error)
    detail = (
        f"file {text.removeprefix(missing)} does not exist"
        if text.startswith(missing)
        else f"the credentials of user {chosen.user_name!r} or the cluster's certificates are malformed"
    )
    return f"{_where(chosen)}: context {chosen.name!r} cannot be used: {detail}"
