"""The parts of a kubeconfig (`v1.Config` of client-go 1.36, `tools/clientcmd/api/v1`) that matter to a connection."""

from __future__ import annotations

import msgspec

__all__ = ["Cluster", "ClusterBody", "Context", "ContextBody", "Exec", "KubeconfigFile", "User", "UserBody"]


class ContextBody(msgspec.Struct):
    """Which cluster as which user, and the namespace that is meant where none is named."""

    cluster: str | None = None
    user: str | None = None
    namespace: str | None = None


class Extension(msgspec.Struct):
    """Something for other programs, here for a credential plugin."""

    name: str | None = None
    extension: object = None


class ClusterBody(msgspec.Struct, rename="kebab"):
    """Where a cluster is and how to know it."""

    server: str | None = None
    certificate_authority: str | None = None
    certificate_authority_data: str | None = None
    insecure_skip_tls_verify: bool | None = None
    tls_server_name: str | None = None
    proxy_url: str | None = None
    extensions: list[Extension] | None = None

    def __repr__(self) -> str:
        return "ClusterBody(...)"  # addresses may hold passwords


class EnvironmentVariable(msgspec.Struct):
    """One variable for a credential plugin."""

    name: str
    value: str = ""

    def __repr__(self) -> str:
        return "EnvironmentVariable(...)"


class Exec(msgspec.Struct, rename="camel"):
    """A credential plugin."""

    command: str | None = None
    args: list[str] | None = None
    env: list[EnvironmentVariable] | None = None
    api_version: str | None = None
    provide_cluster_info: bool = False
    interactive_mode: str | None = None

    def __repr__(self) -> str:
        return "Exec(...)"


class UserBody(msgspec.Struct, rename="kebab"):
    """How a user proves who it is."""

    token: str | None = None
    token_file: str | None = msgspec.field(default=None, name="tokenFile")
    client_certificate: str | None = None
    client_certificate_data: str | None = None
    client_key: str | None = None
    client_key_data: str | None = None
    username: str | None = None
    password: str | None = None
    exec: Exec | None = None
    auth_provider: dict[str, object] | None = None

    def __repr__(self) -> str:
        return "UserBody(...)"


class Context(msgspec.Struct):
    """A named context."""

    name: str
    context: ContextBody | None = None


class Cluster(msgspec.Struct):
    """A named cluster."""

    name: str
    cluster: ClusterBody | None = None


class User(msgspec.Struct):
    """A named user."""

    name: str
    user: UserBody | None = None


class KubeconfigFile(msgspec.Struct):
    """One file."""

    current_context: str | None = msgspec.field(default=None, name="current-context")
    contexts: list[Context] | None = None
    clusters: list[Cluster] | None = None
    users: list[User] | None = None
