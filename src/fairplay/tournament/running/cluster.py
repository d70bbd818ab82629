"""Play matches on a Dask cluster: an existing one, or a local one."""

import logging
import os
import subprocess
from contextlib import ExitStack, suppress
from typing import Any

from dask import config as dask_config
from distributed import Client, KilledWorker, LocalCluster, Security, WorkerPlugin

from fairplay.core.errors import BadRequest
from fairplay.tournament.running.runners import Runner, WorkerQueue, start_resource_tracker
from fairplay.tournament.running.worker import pin_to_cores
from fairplay.transport.endpoint import LOOPBACK

DASK_ROLES = ("client", "scheduler", "worker")
CLUSTER_TIMEOUT_S = 10.0  # for a scheduler to answer, and for a cluster to end


class PinToCores(WorkerPlugin):
    """Gives each worker of a local cluster its cores, and shields it from Ctrl-C at the terminal."""

    def __init__(self, workers: int) -> None:
        self._workers = workers

    def setup(self, worker: Any) -> None:
        """Set up a worker; in a local cluster its name is its number."""
        pin_to_cores(int(worker.name), self._workers)
        os.dup2(2, 1)  # players in this process may print
        with suppress(OSError):
            os.setpgid(0, 0)


def local_cluster(workers: int) -> LocalCluster:
    """A cluster on this machine that no other user can connect to.

    A client of a scheduler can run code as the user of its workers. So the parts of the cluster know one another by a
    key that is made for them alone, and its web server has no pages.
    """
    with dask_config.set({"distributed.scheduler.http.routes": [], "distributed.worker.http.routes": []}):
        return LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            host=LOOPBACK,
            protocol="tls://",
            security=make_tls_key(),
            dashboard_address=None,
            scheduler_kwargs={"dashboard_address": f"{LOOPBACK}:0"},  # port 0, as a second cluster would warn
            silence_logs=logging.ERROR,
        )


def make_tls_key() -> Security:
    """A key and its certificate, in memory, by which the parts of a cluster know one another."""
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "365", "-subj", "/CN=fairplay"]
    try:
        done = subprocess.run([*command, "-keyout", "-", "-out", "-"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        raise BadRequest(
            "--executor dask needs openssl, to encrypt the cluster; install it or use --executor pool"
        ) from None
    begin = done.stdout.index("-----BEGIN CERTIFICATE")
    key, certificate = done.stdout[:begin], done.stdout[begin:]
    roles = {f"tls_{role}_{what}": text for role in DASK_ROLES for what, text in (("key", key), ("cert", certificate))}
    return Security(tls_ca_file=certificate, require_encryption=True, **roles)


def connect_client(address: str) -> Client:
    """A client of the scheduler at an address. Raises BadRequest if that has no workers."""
    with ExitStack() as undo:
        try:
            client: Client = undo.enter_context(Client(address, timeout=CLUSTER_TIMEOUT_S))
            client.wait_for_workers(1, timeout=CLUSTER_TIMEOUT_S)
        except TimeoutError:
            raise BadRequest(f"the Dask scheduler at {address} has no workers") from None
        except (OSError, ValueError) as error:
            raise BadRequest(f"there is no Dask scheduler at {address}: {error}") from None
        undo.pop_all()
    return client


def dask_runner(address: str, workers: int) -> Runner:
    """A runner on the cluster of the scheduler at an address; empty: on a local one with so many workers."""
    logging.getLogger("distributed").setLevel(logging.ERROR)  # its warnings do not concern the host
    start_resource_tracker()
    cluster = None
    if address:
        client = connect_client(address)
    else:
        cluster = local_cluster(workers)
        client = Client(cluster, timeout=CLUSTER_TIMEOUT_S)
        client.register_plugin(PinToCores(workers))

    def end() -> None:
        with suppress(Exception):
            client.close(timeout=CLUSTER_TIMEOUT_S)
        if cluster is not None:
            cluster.close(timeout=CLUSTER_TIMEOUT_S)

    capacity = max(1, sum(client.nthreads().values()))
    return Runner(
        [WorkerQueue(lambda: client.get_executor(pure=False), capacity, (KilledWorker,))], shared=False, end=end
    )
