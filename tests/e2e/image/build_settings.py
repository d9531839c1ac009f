"""What a build needs of this machine to download packages: pip's configuration and the authorities it trusts.

Nothing of it stands in the repository. A build gets both as secrets, so that no layer holds them either.
"""

from __future__ import annotations

import ssl
import subprocess
import sys
from pathlib import Path

_HANDED_ON = ("index-url", "extra-index-url", "trusted-host", "proxy", "timeout")
"""Keys of pip's configuration that say where packages come from; others are about this machine alone."""

_AUTHORITIES_IN_THE_BUILD = "/run/secrets/ca-certificates"


def write_secrets(folder: Path) -> dict[str, Path]:
    """Id of each secret that the Dockerfile takes → the file with its value; `folder` gets the ones that are made."""
    config = pip_config()
    authorities = config.get("cert") or ssl.get_default_verify_paths().cafile
    lines = [f"{key} = {config[key]}" for key in _HANDED_ON if key in config]
    secrets = {}
    if authorities and Path(authorities).exists():
        lines.append(f"cert = {_AUTHORITIES_IN_THE_BUILD}")
        secrets["ca-certificates"] = Path(authorities)
    (folder / "pip.conf").write_text("\n".join(["[global]", *lines, ""]))
    return {"pip-config": folder / "pip.conf", **secrets}


def pip_config() -> dict[str, str]:
    """pip's settings on this machine, from its files and from variables such as PIP_INDEX_URL, which come last."""
    listed = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=True
    ).stdout
    pairs = [line.partition("=") for line in listed.splitlines()]
    from_files_first = sorted(pairs, key=lambda pair: pair[0].startswith(":env:"))
    return {key.rpartition(".")[2]: value.strip("'\"") for key, _, value in from_files_first}
