from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.binaries import cache_root
from tests.e2e.image import base_image, build_settings
from tests.e2e.image.engines import DOCKERFILE, Engine, find_engine

_STORE = "image"


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    """The engine, after it has built the image from this tree."""
    engine = find_engine(cache_root() / _STORE)
    if engine is None:
        pytest.skip(
            "the image cannot be built here: docker, podman or, for root, buildah is needed "
            "(apt-get install buildah debootstrap)"
        )
    try:
        base = _base(engine)
    except base_image.BaseImageError as error:
        pytest.skip(f"the image cannot be built here: {error}")
    engine.build(base, build_settings.write_secrets(tmp_path_factory.mktemp("secrets")))
    return engine


@pytest.fixture(scope="session")
def root(built: Engine) -> Iterator[Path]:
    """The file system of the image."""
    with built.opened() as folder:
        yield folder


@pytest.fixture
def image(built: Engine, root: Path) -> Engine:
    """The engine, ready for runs of the image."""
    return built


def _base(engine: Engine) -> str:
    """The base that the Dockerfile names, or where no registry has it, one of Debian's packages, made once."""
    named = base_image.default_base(DOCKERFILE)
    if engine.has(named):
        return named
    recipe = hashlib.sha256(Path(base_image.__file__).read_bytes() + base_image.RELEASE.encode()).hexdigest()[:16]
    made = f"localhost/descheduler-base:{recipe}"
    if not engine.has(made):
        with tempfile.TemporaryDirectory() as folder:
            base_image.debian_root(Path(folder))
            engine.import_root(Path(folder), made)
    return made
