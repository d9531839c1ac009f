"""Where the API server is and how to prove who asks: kubeconfig or service account."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import urllib3

from descheduler.kube.authentication.credentials import Credentials, Issued, RenewedCredentials, read_token_file
from descheduler.kube.authentication.kubeconfig_file import ChosenContext, choose_context, context_names
from descheduler.kube.authentication.tls_files import MissingFileError, TlsFiles, load_tls_files
from descheduler.kube.authentication.user_credentials import user_credentials
from descheduler.model.text.urls import split_userinfo
from descheduler.transport.errors import SettingsError
from descheduler.transport.header_values import bearer
from descheduler.transport.proxies import Proxy, named_proxy, proxy_for

if TYPE_CHECKING:
    from kubernetes.client import Configuration

# One more than the dispatcher ever has in flight, so that no connection is thrown away and opened again.
_POOL_SIZE = 65
_PROVIDER_SECONDS = 10.0
"""How often an `auth-provider` is asked whether its token has expired, which it finds out without a call."""
SERVICE_ACCOUNT_TOKEN = Path("/var/run/secrets/kubernetes.io/serviceaccount/token")
"""The token that the kubelet keeps fresh in every pod that wants one."""
SERVICE_ACCOUNT_CA = Path("/var/run/secrets/kubernetes.io/serviceaccount/ca.crt")
"""The certificate authority of the cluster, next to the token."""
SERVICE_ACCOUNT_NAMESPACE = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
"""The namespace of the pod."""


class ClientConnection(msgspec.Struct, frozen=True):
    """The base URL of the API server without any user part, the pool for it, and the credentials that go with them."""

    host: str
    pool: urllib3.PoolManager
    credentials: Credentials
    context: str = ""
    """The context of the kubeconfig; "" for the service account of a pod."""

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
    Raises SettingsError.
    """
    files = _named_files(kubeconfig, environ)
    if _is_in_cluster(files, context, environ):
        return _in_cluster(environ)
    return _from_context(choose_context(files or [_home_kubeconfig(environ)], context))


def default_namespace(kubeconfig: str | None, context: str | None, *, environ: Mapping[str, str] = os.environ) -> str:
    """The namespace that kubectl takes where none is named; "" where neither context nor pod says.

    Raises SettingsError, as `load_connection` does with the same arguments.
    """
    files = _named_files(kubeconfig, environ)
    if _is_in_cluster(files, context, environ):
        return SERVICE_ACCOUNT_NAMESPACE.read_text("utf-8").strip() if SERVICE_ACCOUNT_NAMESPACE.exists() else ""
    return choose_context(files or [_home_kubeconfig(environ)], context).namespace


def contexts_of(kubeconfig: str | None) -> list[str]:
    """The names of all contexts that can be chosen. Raises SettingsError for a file that cannot be read."""
    return context_names(_named_files(kubeconfig, os.environ) or [_home_kubeconfig(os.environ)])


def _named_files(kubeconfig: str | None, environ: Mapping[str, str]) -> list[Path]:
    named = kubeconfig or environ.get("KUBECONFIG") or ""
    files = [_expanded(part) for part in named.split(os.pathsep) if part]
    if kubeconfig:
        return files
    # As kubectl: KUBECONFIG may list files that are not there yet, a file named on the command line must exist.
    return [file for file in files if file.exists()] or files


def _is_in_cluster(files: Sequence[Path], context: str | None, environ: Mapping[str, str]) -> bool:
    is_asked = not files and context is None
    return is_asked and bool(environ.get("KUBERNETES_SERVICE_HOST")) and SERVICE_ACCOUNT_TOKEN.exists()


def _expanded(name: str) -> Path:
    try:
        return Path(name).expanduser()
    except RuntimeError:  # no such user; the name stands for itself, as in a shell
        return Path(name)


def _home_kubeconfig(environ: Mapping[str, str]) -> Path:
    file = _expanded(environ.get("HOME") or "~") / ".kube" / "config"
    if not file.exists():
        raise SettingsError(
            f"no cluster is configured: neither {file} nor a service account exists; "
            "name a kubeconfig with --kubeconfig or KUBECONFIG"
        )
    return file


def _in_cluster(environ: Mapping[str, str]) -> ClientConnection:
    host, port = environ["KUBERNETES_SERVICE_HOST"], environ.get("KUBERNETES_SERVICE_PORT") or "443"
    server = f"https://{f'[{host}]' if ':' in host else host}:{port}"
    if not SERVICE_ACCOUNT_CA.exists():
        raise SettingsError(f"service account cannot be used: {SERVICE_ACCOUNT_CA} does not exist")
    owner = "the token of the service account"
    credentials = RenewedCredentials(lambda: read_token_file(SERVICE_ACCOUNT_TOKEN, owner))
    credentials.authorization()  # a fault of the file is told before anything is sent
    tls = TlsFiles(authority=str(SERVICE_ACCOUNT_CA))
    return ClientConnection(server, make_pool(tls, proxy_for(server)), credentials)


def _from_context(chosen: ChosenContext) -> ClientConnection:
    server = split_userinfo((chosen.cluster.server or "").rstrip("/"))
    origin = f"{chosen.where}: proxy-url of cluster {chosen.cluster_name!r}"
    # A proxy that the kubeconfig names is used whatever NO_PROXY says, as in client-go.
    proxy_url = chosen.cluster.proxy_url
    proxy = named_proxy(proxy_url, origin) if proxy_url else proxy_for(server.url)
    found = user_credentials(chosen, server)
    try:
        tls = load_tls_files(found.cluster_settings, found.user_settings)
        credentials = found.credentials or provider_credentials(server.url, chosen.user.auth_provider or {})
    except Exception as error:
        # Not chained and not quoted: the texts can hold whole entries of the file, credentials included.
        raise SettingsError(_unusable(chosen, error)) from None
    return ClientConnection(server.url, make_pool(tls, proxy), credentials, chosen.name)


def _unusable(chosen: ChosenContext, error: Exception) -> str:
    detail = (
        f"file {error} does not exist"
        if isinstance(error, MissingFileError)
        else f"the credentials of user {chosen.user_name!r} or the cluster's certificates are malformed"
    )
    return f"{chosen.where}: context {chosen.name!r} cannot be used: {detail}"


def provider_credentials(server: str, provider: Mapping[str, object]) -> Credentials:
    """The token of `provider`, an entry `auth-provider` of old kubeconfigs, as the official client gets and renews it.

    Raises whatever the official client does.
    """
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
        raise SettingsError(f"{owner} cannot be renewed; log in again") from None
    value = str(setting["value"] or "") if setting else ""
    return Issued(bearer(value.removeprefix("Bearer "), owner), _PROVIDER_SECONDS)


def make_pool(tls: TlsFiles, proxy: Proxy | None) -> urllib3.PoolManager:
    """A pool whose connections check the server, and show a certificate, as `tls` says. Raises SettingsError."""
    settings: dict[str, Any] = {
        "maxsize": _POOL_SIZE,
        "server_hostname": tls.server_name,
        "ssl_context": tls.context,
    }
    if tls.context is None:
        settings |= {
            "cert_reqs": "CERT_REQUIRED" if tls.is_verified else "CERT_NONE",
            "ca_certs": tls.authority,
            "cert_file": tls.certificate,
            "key_file": tls.key,
        }
    given = {name: value for name, value in settings.items() if value is not None}
    if proxy is None:
        return urllib3.PoolManager(**given)
    try:
        return urllib3.ProxyManager(
            proxy.url, proxy_headers=proxy.headers, proxy_ssl_context=tls.proxy_context, **given
        )
    except ValueError:
        # The URL may hold a password, and is neither repeated nor chained.
        raise SettingsError(
            "the proxy, from proxy-url of the kubeconfig or from HTTPS_PROXY, cannot be used: it must be a URL such as "
            "http://host:3128"
        ) from None
