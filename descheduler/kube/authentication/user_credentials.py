"""What a user of a kubeconfig proves itself with, in the order of client-go: token, credential plugin, password."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from descheduler.kube.authentication.credentials import (
    NO_CREDENTIALS,
    Credentials,
    FixedCredentials,
    Issued,
    RenewedCredentials,
    read_token_file,
)
from descheduler.kube.authentication.exec_plugin import ExecPlugin, ExecStatus
from descheduler.kube.authentication.kubeconfig_file import ChosenContext, ClusterBody, Exec
from descheduler.model.text.urls import SplitUrl, basic_authorization, is_https
from descheduler.transport.errors import SettingsError
from descheduler.transport.header_values import bearer

_PLUGIN_EXTENSION = "client.authentication.k8s.io/exec"


@dataclass(frozen=True, slots=True)
class UserCredentials:
    """Credentials, and the entries of cluster and user about certificates, with paths that are absolute.

    `credentials` is None when an `auth-provider` gives them, which is an entry of the user then.
    """

    credentials: Credentials | None
    cluster_settings: Mapping[str, object] = field(repr=False)
    user_settings: Mapping[str, object] = field(repr=False)


def user_credentials(chosen: ChosenContext, server: SplitUrl) -> UserCredentials:
    """What the chosen user has to show to `server`.

    Over plain http that is nothing but the user part of the server's own URL, as client-go 1.36 has it
    (`tools/clientcmd/client_config.go`, `ClientConfig`; Go's `http.Client` for the URL). Runs a credential plugin.
    Raises SettingsError.
    """
    if not is_https(server.url):
        return UserCredentials(FixedCredentials(server.authorization), {}, {})
    user, cluster = _UserSettings(chosen), _cluster_settings(chosen)
    if server.authorization:
        return UserCredentials(FixedCredentials(server.authorization), cluster, user.certificate())
    found, settings = user.find()
    return UserCredentials(found, cluster, settings)


class _UserSettings(msgspec.Struct, frozen=True):
    chosen: ChosenContext

    def find(self) -> tuple[Credentials | None, Mapping[str, object]]:
        """The credentials and the settings about the certificate; None when an auth-provider gives them."""
        user = self.chosen.user
        owner = f"the token of user {self.chosen.user_name!r}"
        if user.token_file:
            return self._token_file(user.token_file, user.token or "", owner), self.certificate()
        if user.token and (value := bearer(user.token, owner)):
            return FixedCredentials(value), self.certificate()
        if user.auth_provider is not None:
            return None, {**self.certificate(), "auth-provider": user.auth_provider}
        if user.exec is not None:
            return self._plugin(user.exec)
        if user.username:
            value = basic_authorization(user.username.encode(), (user.password or "").encode())
            return FixedCredentials(value), self.certificate()
        return NO_CREDENTIALS, self.certificate()

    def certificate(self) -> Mapping[str, object]:
        """The entries about the user's certificate."""
        user, folder = self.chosen.user, self.chosen.user_folder
        return _settings(
            folder,
            {"client-certificate": user.client_certificate, "client-key": user.client_key},
            {"client-certificate-data": user.client_certificate_data, "client-key-data": user.client_key_data},
        )

    def _token_file(self, name: str, spare: str, owner: str) -> Credentials:
        """The file is read first, and `token` stands in for it, as in client-go `transport/round_trippers.go`."""
        file, spare_value = self.chosen.user_folder / name, bearer(spare, owner)

        def issue() -> Issued:
            try:
                return read_token_file(file, owner)
            except SettingsError:
                if not spare_value:
                    raise
                return Issued(spare_value, 0.0)

        return _checked(RenewedCredentials(issue))

    def _plugin(self, settings: Exec) -> tuple[Credentials, Mapping[str, object]]:
        plugin = self._make_plugin(settings)
        status = plugin.run()
        if not status.token:
            return NO_CREDENTIALS, {**self.certificate(), **_pem_settings(status)}
        credentials = _checked(RenewedCredentials(_first(plugin.issued(status), plugin.issue)))
        return credentials, {**self.certificate(), **_pem_settings(status)}

    def _make_plugin(self, settings: Exec) -> ExecPlugin:
        chosen = self.chosen
        return ExecPlugin(
            where=chosen.where,
            owner=f"credential plugin {settings.command or ''!r} of user {chosen.user_name!r}",
            command=settings.command or "",
            arguments=tuple(settings.args or ()),
            environment={variable.name: variable.value for variable in settings.env or ()},
            api_version=settings.api_version or "",
            may_ask=settings.interactive_mode != "Never",
            folder=chosen.user_folder,
            cluster=_told_cluster(chosen.cluster, chosen.cluster_folder) if settings.provide_cluster_info else None,
        )


def _first(issued: Issued, issue: Callable[[], Issued]) -> Callable[[], Issued]:
    """`issue`, but what was issued already at the first call."""
    ready = [issued]
    return lambda: ready.pop() if ready else issue()


def _checked(credentials: RenewedCredentials) -> RenewedCredentials:
    """`credentials`, of which a first value could be had: a fault is told before anything is sent."""
    credentials.authorization()
    return credentials


def _cluster_settings(chosen: ChosenContext) -> Mapping[str, object]:
    cluster = chosen.cluster
    values = {
        "certificate-authority-data": cluster.certificate_authority_data,
        "insecure-skip-tls-verify": cluster.insecure_skip_tls_verify,
        "tls-server-name": cluster.tls_server_name,
    }
    return _settings(chosen.cluster_folder, {"certificate-authority": cluster.certificate_authority}, values)


def _settings(folder: Path, files: Mapping[str, str | None], values: Mapping[str, object]) -> Mapping[str, object]:
    """The entries that are set; names of files are relative to `folder`."""
    absolute = {key: str(folder.absolute() / name) for key, name in files.items() if name}
    return {**absolute, **{key: value for key, value in values.items() if value}}


def _pem_settings(status: ExecStatus) -> Mapping[str, object]:
    """A certificate of a plugin, which prints PEM, as entries of a kubeconfig, which hold base64 of it."""
    if not (status.client_certificate_data and status.client_key_data):
        return {}
    return {
        "client-certificate-data": base64.b64encode(status.client_certificate_data.encode()).decode(),
        "client-key-data": base64.b64encode(status.client_key_data.encode()).decode(),
    }


def _told_cluster(cluster: ClusterBody, folder: Path) -> Mapping[str, object]:
    """What a plugin with `provideClusterInfo` is told, as client-go `rest/exec.go` does."""
    authority = cluster.certificate_authority_data
    if not authority and cluster.certificate_authority:
        try:
            authority = base64.b64encode((folder / cluster.certificate_authority).read_bytes()).decode()
        except OSError:
            authority = None  # the connection itself tells what is wrong with it
    extension = next((e.extension for e in cluster.extensions or () if e.name == _PLUGIN_EXTENSION), None)
    told = {
        "server": cluster.server,
        "tls-server-name": cluster.tls_server_name,
        "insecure-skip-tls-verify": cluster.insecure_skip_tls_verify,
        "certificate-authority-data": authority,
        "proxy-url": cluster.proxy_url,
        "config": extension,
    }
    return {key: value for key, value in told.items() if value}
