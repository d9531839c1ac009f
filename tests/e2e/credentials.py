"""Keys and tokens of a throw-away control plane, made without any tool but Python."""

from __future__ import annotations

import base64
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
