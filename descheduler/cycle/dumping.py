"""A cluster to a file: everything that a later run on the dump may want to read."""

from __future__ import annotations

import errno
from contextlib import closing
from datetime import datetime
from functools import partial
from pathlib import Path

from descheduler.cluster.dumps.write import DumpWriter
from descheduler.cluster.kinds import KINDS
from descheduler.cluster.live import dump_live
from descheduler.cycle.options import ConnectionOptions
from descheduler.cycle.request import dumped_annotations
from descheduler.kube.discovery import discover_version
from descheduler.kube.lists.listing import doing_of
from descheduler.output_file import written_file
from descheduler.supervision import Watch

_OWNER_ALONE = 0o600


def dump_cluster(connection: ConnectionOptions, path: Path | None, watch: Watch, *, taken_at: datetime) -> None:
    """Writes a dump of the cluster to `path`, None for standard output, where it appears only when the dump is whole.

    Raises RunStopped when the time of `watch` is over first, ExchangeError when the cluster cannot be reached,
    SnapshotError when it cannot be read whole, OSError when the file cannot be written or is a terminal.
    """
    with written_file(path, mode=_OWNER_ALONE) as out:
        if out.isatty():
            raise OSError(errno.EINVAL, "it is a terminal and a dump is compressed; redirect it, or name a file")
        connected = watch.call("loading the kubeconfig and its credentials", connection.connect)
        with closing(connected) as client:
            reader = client.watched(lambda path: watch.tell(doing_of(path)))
            kinds = tuple(KINDS.values())
            writer = DumpWriter(out, taken_at, kinds, source=client.host, annotations=dumped_annotations())
            version = watch.call("reaching the API server", partial(discover_version, reader))
            watch.call("reading the cluster", partial(dump_live, reader, kinds, writer, git_version=version))
