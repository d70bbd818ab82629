"""Have matches played on a Dask cluster: one that is there, or one of this machine's own."""

import logging
import os
from contextlib import suppress
from typing import Any

from distributed import Client, KilledWorker, LocalCluster, WorkerPlugin

from fairplay.core.errors import BadRequest
from fairplay.tournament.runners import Hand, Runner, begin_tracking
from fairplay.tournament.worker import pin

PATIENCE = 10.0  # seconds for a scheduler to answer, and for everybody to end


class Pinned(WorkerPlugin):
    """Gives each worker of a cluster on this machine its cores, and keeps Ctrl-C at the terminal off it."""

    def __init__(self, workers: int) -> None:
        self._workers = workers

    def setup(self, worker: Any) -> None:
        """Begin: the workers of a local cluster are called by their numbers."""
        pin(int(worker.name), self._workers)
        os.dup2(2, 1)  # what players print in this process is no result
        with suppress(OSError):
            os.setpgid(0, 0)


def dask(address: str, workers: int) -> Runner:
    """Plays on the cluster of the scheduler at an address; empty: on one with so many workers, started here."""
    logging.getLogger("distributed").setLevel(logging.ERROR)  # its warnings are not for whoever runs a tournament
    begin_tracking()
    cluster = None
    if address:
        try:
            client = Client(address, timeout=PATIENCE)
            client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError:
            raise BadRequest(f"the Dask scheduler at {address} has no workers") from None
        except (OSError, ValueError) as error:
            raise BadRequest(f"there is no Dask scheduler at {address}: {error}") from None
    else:
        cluster = LocalCluster(
            n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=logging.ERROR
        )
        client = Client(cluster, timeout=PATIENCE)
        client.register_plugin(Pinned(workers))

    def end() -> None:
        with suppress(Exception):
            client.close(timeout=PATIENCE)
        if cluster is not None:
            cluster.close(timeout=PATIENCE)

    places = max(1, sum(client.nthreads().values()))
    return Runner([Hand(lambda: client.get_executor(pure=False), places, (KilledWorker,))], shared=False, end=end)
