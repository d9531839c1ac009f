from __future__ import annotations

from tests.integration.api_fixtures import client, fake_api, kubeconfig, naps

__all__ = ["client", "fake_api", "kubeconfig", "naps"]
