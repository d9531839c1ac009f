from __future__ import annotations

from tests.integration.api_fixtures import certificate, client, fake_api, kubeconfig, naps, secure_api

__all__ = ["certificate", "client", "fake_api", "kubeconfig", "naps", "secure_api"]
