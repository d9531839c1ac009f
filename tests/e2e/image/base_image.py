"""A base for the image where no registry can be reached: this machine's release of Debian, from its own mirror."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from pathlib import Path

_PACKAGES = ("ca-certificates", "python-is-python3", "python3", "python3-venv")
"""What the official image `python:…-slim` has of these: Python by that name, its `venv`, the authorities."""

RELEASE = platform.freedesktop_os_release().get("VERSION_CODENAME", "")
"""The code name of this machine's release."""


class BaseImageError(Exception):
    """There is no way to a base image on this machine; the message says what is missing."""


def default_base(dockerfile: Path) -> str:
    """The base image that the Dockerfile names."""
    (line,) = (line for line in dockerfile.read_text().splitlines() if line.startswith("ARG PYTHON_IMAGE="))
    return line.partition("=")[2]


def debian_root(folder: Path) -> None:
    """Fills `folder` with a system that has Python. Raises BaseImageError where that is impossible."""
    if os.geteuid() != 0 or not shutil.which("debootstrap") or not shutil.which("apt-get"):
        raise BaseImageError(
            "no registry can be reached, and a base of Debian's packages needs root, apt-get and debootstrap "
            "(apt-get install debootstrap)"
        )
    command = ["debootstrap", "--variant=minbase", f"--include={','.join(_PACKAGES)}", RELEASE, str(folder), _mirror()]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BaseImageError(f"debootstrap failed: {' | '.join((done.stdout + done.stderr).splitlines()[-5:])}")


def _mirror() -> str:
    """Where apt gets this release from; its lists are fetched when there are none yet."""
    for attempt in ("as it is", "updated"):
        if attempt == "updated":
            subprocess.run(["apt-get", "update", "-qq"], check=False)
        for line in _package_sources():
            address, _, release = line.partition(" ")
            if release == RELEASE:
                return address
    raise BaseImageError(f"apt knows no source of packages for {RELEASE or 'this system'}")


def _package_sources() -> list[str]:
    """Address and release of each list of packages that apt has."""
    form = "$(REPO_URI) $(CODENAME)"
    command = ["apt-get", "indextargets", "--format", form, "Created-By: Packages", "Component: main"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()
