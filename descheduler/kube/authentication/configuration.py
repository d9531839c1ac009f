"""Where the API server is and how to prove who asks: kubeconfig or service account, through the official client."""

from __future__ import annotations

import os
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import urllib3

from descheduler.kube.authentication.credentials import Credentials, RenewedCredentials, read_token_file
from descheduler.kube.authentication.kubeconfig_file import ChosenContext, choose_context
from descheduler.kube.authentication.user_credentials import UserCredentials, user_credentials
from descheduler.kube.errors import KubeConfigError
from descheduler.kube.http.proxies import environment_proxy, named_proxy
from descheduler.model.urls import split_userinfo

if TYPE_CHECKING:
    from kubernetes.client import ApiClient, Configuration

__all__ = ["SERVICE_ACCOUNT_CA", "SERVICE_ACCOUNT_TOKEN", "ClientConnection", "load_connection"]

SERVICE_ACCOUNT_TOKEN = Path("/var/run/secrets/kubernetes.io/serviceaccount/token")
"""The token that the kubelet keeps fresh in every pod that wants one."""

SERVICE_ACCOUNT_CA = Path("/var/run/secrets/kubernetes.io/serviceaccount/ca.crt")
"""The certificate authority of the cluster, next to the token."""

# One more than the executor ever has in flight, so that no connection is thrown away and opened again.
_POOL_SIZE = 65


@dataclass(frozen=True, slots=True)
class ClientConnection:
    """Address and pool of a configured `kubernetes.client.ApiClient`, and the credentials that go with them."""

    client: ApiClient
    credentials: Credentials
    context: str = ""
    """The context of the kubeconfig; "" for the service account of a pod."""

    @property
    def host(self) -> str:
        """Base URL of the API server, without any user part."""
        return str(self.client.configuration.host).rstrip("/")

    @property
    def pool(self) -> urllib3.PoolManager:
        """The client's connection pool, with the TLS and proxy settings of the configuration."""
        pool: urllib3.PoolManager = self.client.rest_client.pool_manager
        return pool

    def authorization(self) -> str:
        """The current value of the Authorization field, "" for none; renewed when its time is over."""
        return self.credentials.authorization()

    def refuse(self, authorization: str) -> None:
        """Takes note that the server answered this value with 401."""
        self.credentials.refuse(authorization)


def load_connection(
    kubeconfig: str | None, context: str | None, *, environ: Mapping[str, str] = os.environ
) -> ClientConnection:
    """The connection that the arguments ask for, as kubectl would choose it.

    An explicit kubeconfig (several files joined as in KUBECONFIG) comes first, then KUBECONFIG, then the service
    account of the pod this runs in, then ~/.kube/config. With a `context` the service account is passed over.
    Raises KubeConfigError.
    """
    named = kubeconfig or environ.get("KUBECONFIG") or ""
    files = [_expanded(part) for part in named.split(os.pathsep) if part]
    if not kubeconfig:
        # As kubectl: KUBECONFIG may list files that are not there yet, a file named on the command line must exist.
        files = [file for file in files if file.exists()] or files
    if not files and context is None and environ.get("KUBERNETES_SERVICE_HOST") and SERVICE_ACCOUNT_TOKEN.exists():
        return _in_cluster(environ)
    if not files:
        files = [_home_kubeconfig(environ)]
    return _from_context(choose_context(files, context))


def _expanded(name: str) -> Path:
    try:
        return Path(name).expanduser()
    except RuntimeError:  # no such user; the name stands for itself, as in a shell
        return Path(name)


def _connection(configuration: Configuration, credentials: Credentials, context: str = "") -> ClientConnection:
    from kubernetes.client import ApiClient

    try:
        return ClientConnection(ApiClient(configuration), credentials, context)
    except (ValueError, ImportError):
        # Only the proxy is looked at so far; its URL may hold a password, and is neither repeated nor chained.
        raise KubeConfigError(
            "the proxy, from proxy-url of the kubeconfig or from HTTPS_PROXY, cannot be used: it must be a URL such as "
            "http://host:3128"
        ) from None


def _home_kubeconfig(environ: Mapping[str, str]) -> Path:
    file = _expanded(environ.get("HOME") or "~") / ".kube" / "config"
    if not file.exists():
        raise KubeConfigError(
            f"no cluster is configured: neither {file} nor a service account exists; "
            "name a kubeconfig with --kubeconfig or KUBECONFIG"
        )
    return file


def _in_cluster(environ: Mapping[str, str]) -> ClientConnection:
    host, port = environ["KUBERNETES_SERVICE_HOST"], environ.get("KUBERNETES_SERVICE_PORT") or "443"
    configuration = _configuration(f"https://{f'[{host}]' if ':' in host else host}:{port}", None)
    if not SERVICE_ACCOUNT_CA.exists():
        raise KubeConfigError(f"service account cannot be used: {SERVICE_ACCOUNT_CA} does not exist")
    configuration.ssl_ca_cert = str(SERVICE_ACCOUNT_CA)
    owner = "the token of the service account"
    credentials = RenewedCredentials(lambda: read_token_file(SERVICE_ACCOUNT_TOKEN, owner))
    credentials.authorization()  # a fault of the file is told before anything is sent
    return _connection(configuration, credentials)


def _configuration(server: str, proxy_url: str | None, origin: str = "") -> Configuration:
    """Settings for `server`. A proxy that `proxy_url` names is used whatever NO_PROXY says, as in client-go."""
    from kubernetes.client import Configuration
    from kubernetes.client.rest import should_bypass_proxies

    configuration = Configuration()
    configuration.connection_pool_maxsize = _POOL_SIZE
    configuration.host = server
    proxy = None
    if proxy_url:
        proxy, configuration.no_proxy = named_proxy(proxy_url, origin), ""
    elif configuration.proxy and not should_bypass_proxies(server, configuration.no_proxy or ""):
        proxy = environment_proxy(configuration.proxy)
    if proxy is not None:
        configuration.proxy, configuration.proxy_headers = proxy.url, dict(proxy.headers)
    return configuration


def _from_context(chosen: ChosenContext) -> ClientConnection:
    server = split_userinfo((chosen.cluster.server or "").rstrip("/"))
    origin = f"{chosen.where}: proxy-url of cluster {chosen.cluster_name!r}"
    configuration = _configuration(server.url, chosen.cluster.proxy_url, origin)
    found = user_credentials(chosen, server)
    _load_certificates(configuration, chosen, found)
    credentials = found.provided(configuration)
    return _connection(configuration, credentials, chosen.name)


def _load_certificates(configuration: Configuration, chosen: ChosenContext, found: UserCredentials) -> None:
    """Has the official client read certificates and, for the sake of old files, the entry `auth-provider`."""
    from kubernetes.config import load_kube_config_from_dict

    entry = {"name": "chosen"}
    document = {
        "current-context": "chosen",
        "contexts": [{**entry, "context": {"cluster": "chosen", "user": "chosen"}}],
        "clusters": [{**entry, "cluster": {**found.cluster_settings, "server": configuration.host}}],
        "users": [{**entry, "user": dict(found.user_settings)}],
    }
    try:
        load_kube_config_from_dict(  # type: ignore[no-untyped-call]  # as the client is
            document, context="chosen", client_configuration=configuration, persist_config=False
        )
        _try_certificates(configuration)
    except Exception as error:
        # Not chained and not quoted: the client's texts hold whole entries of the file, credentials included.
        raise KubeConfigError(_unusable(chosen, error)) from None


def _try_certificates(configuration: Configuration) -> None:
    """Loads certificates once, so that bad ones are told before anything is sent. Raises OSError and ValueError."""
    context = ssl.create_default_context(cafile=configuration.ssl_ca_cert)
    if not configuration.cert_file:
        configuration.key_file = None  # a key alone is of no use; client-go passes over it
        return
    # Without a password OpenSSL would ask the terminal for that of an encrypted key.
    context.load_cert_chain(configuration.cert_file, configuration.key_file, password="")


def _unusable(chosen: ChosenContext, error: Exception) -> str:
    missing = "File does not exist: "
    text = str(error)
    detail = (
        f"file {text.removeprefix(missing)} does not exist"
        if text.startswith(missing)
        else f"the credentials of user {chosen.user_name!r} or the cluster's certificates are malformed"
    )
    return f"{chosen.where}: context {chosen.name!r} cannot be used: {detail}"
