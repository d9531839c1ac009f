"""The pool of connections to an API server, directly or by a proxy."""

from __future__ import annotations

from typing import Any

import urllib3

from descheduler.kube.authentication.tls_files import TlsFiles
from descheduler.kube.errors import KubeConfigError
from descheduler.kube.http.proxies import Proxy

__all__ = ["make_pool"]

# One more than the executor ever has in flight, so that no connection is thrown away and opened again.
_POOL_SIZE = 65


def make_pool(tls: TlsFiles, proxy: Proxy | None) -> urllib3.PoolManager:
    """A pool whose connections check the server, and show a certificate, as `tls` says. Raises KubeConfigError."""
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
        raise KubeConfigError(
            "the proxy, from proxy-url of the kubeconfig or from HTTPS_PROXY, cannot be used: it must be a URL such as "
            "http://host:3128"
        ) from None
