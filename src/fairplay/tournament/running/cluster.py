"""Have matches played on a Dask cluster: one that is there, or one of this machine's own."""

import logging
import os
import subprocess
from contextlib import ExitStack, suppress
from typing import Any

from dask import config as dask_config
from distributed import Client, KilledWorker, LocalCluster, Security, WorkerPlugin

from fairplay.core.errors import BadRequest
from fairplay.tournament.running.runners import Hand, Runner, begin_tracking
from fairplay.tournament.running.worker import pin
from fairplay.transport.places import LOOPBACK

ROLES = ("client", "scheduler", "worker")
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


def local_cluster(workers: int) -> LocalCluster:
    """A cluster of this machine's own, which nobody else can use.

    Whoever can connect to a scheduler can run code as us, and so could every user of this machine: so its parts take
    part by a key that is made for them alone, and its web server has no pages.
    """
    with dask_config.set({"distributed.scheduler.http.routes": [], "distributed.worker.http.routes": []}):
        return LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            host=LOOPBACK,
            protocol="tls://",
            security=new_key(),
            dashboard_address=None,
            scheduler_kwargs={"dashboard_address": f"{LOOPBACK}:0"},  # any port, or a second cluster would complain
            silence_logs=logging.ERROR,
        )


def new_key() -> Security:
    """A key and its certificate, in memory, by which the parts of a cluster know one another."""
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "365", "-subj", "/CN=fairplay"]
    try:
        done = subprocess.run([*command, "-keyout", "-", "-out", "-"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        raise BadRequest(
            "--executor dask needs openssl, to keep others out of the cluster; pool needs nothing"
        ) from None
    begin = done.stdout.index("-----BEGIN CERTIFICATE")
    key, certificate = done.stdout[:begin], done.stdout[begin:]
    roles = {f"tls_{role}_{what}": text for role in ROLES for what, text in (("key", key), ("cert", certificate))}
    return Security(tls_ca_file=certificate, require_encryption=True, **roles)


def client_of(address: str) -> Client:
    """Who gives the cluster of the scheduler at an address its work. Raises BadRequest if that has no workers."""
    with ExitStack() as undo:
        try:
            client: Client = undo.enter_context(Client(address, timeout=PATIENCE))
            client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError:
            raise BadRequest(f"the Dask scheduler at {address} has no workers") from None
        except (OSError, ValueError) as error:
            raise BadRequest(f"there is no Dask scheduler at {address}: {error}") from None
        undo.pop_all()
    return client


def dask(address: str, workers: int) -> Runner:
    """Plays on the cluster of the scheduler at an address; empty: on one with so many workers, started here."""
    logging.getLogger("distributed").setLevel(logging.ERROR)  # its warnings are not for whoever runs a tournament
    begin_tracking()
    cluster = None
    if address:
        client = client_of(address)
    else:
        cluster = local_cluster(workers)
        client = Client(cluster, timeout=PATIENCE)
        client.register_plugin(Pinned(workers))

    def end() -> None:
        with suppress(Exception):
            client.close(timeout=PATIENCE)
        if cluster is not None:
            cluster.close(timeout=PATIENCE)

    places = max(1, sum(client.nthreads().values()))
    return Runner([Hand(lambda: client.get_executor(pure=False), places, (KilledWorker,))], shared=False, end=end)
