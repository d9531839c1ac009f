"""A cluster to a file: everything that a later run on the dump may want to read."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import BinaryIO

from descheduler.cluster.dump_kinds import DUMP_KINDS
from descheduler.cluster.live import dump_live
from descheduler.cluster.write import DumpWriter
from descheduler.cycle import ConnectionOptions
from descheduler.kube.client import connect
from descheduler.kube.listing import doing_of
from descheduler.supervision import Watch

__all__ = ["dump_cluster"]


def dump_cluster(connection: ConnectionOptions, path: Path, watch: Watch, *, taken_at: datetime) -> None:
    """Writes a dump of the cluster to `path`, which appears only when the dump is whole.

    Raises RunStopped when the time of `watch` is over first, KubeError when the cluster cannot be reached,
    SnapshotError when it cannot be read whole, OSError when the file cannot be written.
    """
    options = (connection.kubeconfig, connection.context, connection.as_user, connection.request_timeout_seconds)
    connected = watch.call("loading the kubeconfig and its credentials", partial(connect, *options))
    with closing(connected) as client, _replaced(path) as out:
        reader = client.watched(lambda path: watch.tell(doing_of(path)))
        writer = DumpWriter(out, taken_at, DUMP_KINDS, source=client.host)
        watch.call("reading the cluster", partial(dump_live, reader, DUMP_KINDS, writer))


@contextmanager
def _replaced(path: Path) -> Iterator[BinaryIO]:
    """A new file that takes the place of `path` when all went well, readable by its owner alone."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as out:
            yield out
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
