"""Keys, tokens and kubeconfig files of a throw-away control plane, made without any tool but Python."""

from __future__ import annotations

import base64
import json
import secrets
from pathlib import Path

ADMIN = "admin"

# An EC private key in SEC 1 form, curve P-256 (RFC 5915): everything but the 32 secret bytes is constant, and the
# public half may be left out, since the reader computes it.
_SEC1_BEFORE_SECRET = bytes.fromhex("30310201010420")
_SEC1_AFTER_SECRET = bytes.fromhex("a00a06082a8648ce3d030107")


def write_signing_key(file: Path) -> None:
    """Writes a new private key that signs service account tokens, as PEM."""
    # The first bit stays clear, so that the number is below the order of the curve.
    secret = bytes([secrets.randbelow(0x80)]) + secrets.token_bytes(31)
    body = base64.encodebytes(_SEC1_BEFORE_SECRET + secret + _SEC1_AFTER_SECRET).decode()
    file.write_text(f"-----BEGIN EC PRIVATE KEY-----\n{body}-----END EC PRIVATE KEY-----\n")


def write_token_file(file: Path, token: str) -> None:
    """Writes the API server's token file with one administrator."""
    file.write_text(f'{token},{ADMIN},{ADMIN},"system:masters"\n')


def write_kubeconfig(file: Path, *, url: str, token: str, ca_file: Path) -> None:
    """Writes a kubeconfig for the bearer of `token`. It is JSON, which is YAML too."""
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "e2e", "cluster": {"server": url, "certificate-authority": str(ca_file)}}],
        "users": [{"name": "e2e", "user": {"token": token}}],
        "contexts": [{"name": "e2e", "context": {"cluster": "e2e", "user": "e2e"}}],
        "current-context": "e2e",
    }
    file.write_text(json.dumps(document, indent=2))
