"""Test matches on a Dask cluster: a local one admits only connections with its key, and dead workers are replaced."""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest
from dask import config as dask_config
from distributed import Client, LocalCluster, Security, default_client
from distributed.comm.core import connect

from fairplay.core.errors import BadRequest
from fairplay.tournament.running import cluster as clusters
from fairplay.tournament.running.cluster import dask_runner, local_cluster, make_tls_key
from tests.tournament.running.test_runners import die_once

SOON = 2.0  # seconds after which a stranger gives up


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    with local_cluster(1) as cluster:
        yield cluster


def test_a_cluster_of_our_own_is_reached_from_this_machine_alone(cluster: LocalCluster) -> None:
    workers = [worker.worker_address for worker in cluster.workers.values()]

    assert all(address.startswith("tls://127.0.0.1:") for address in [cluster.scheduler_address, *workers])
    with Client(cluster, timeout=30) as client, local_cluster(1) as other:  # without a warning
        assert client.submit(os.getppid).result(30) > 0
        assert other.scheduler_address != cluster.scheduler_address


async def reach(address: str, security: Security) -> None:
    """Connect as a client does; but a whole Client may hang when it gives up."""
    comm = await connect(address, timeout=SOON, **security.get_connection_args("client"))
    await comm.close()


@pytest.mark.parametrize("who", ["without a key", "with a key of its own", "without encryption"])
def test_a_stranger_can_run_nothing_on_a_cluster_of_our_own(who: str, cluster: LocalCluster) -> None:
    plain = who == "without encryption"
    address = cluster.scheduler_address.replace("tls://", "tcp://" if plain else "tls://")
    keys = {"without a key": Security(require_encryption=True), "with a key of its own": make_tls_key()}

    with pytest.raises((OSError, TypeError)):  # it has no certificate to show, or the wrong one
        asyncio.run(reach(address, Security() if plain else keys[who]))

    asyncio.run(reach(cluster.scheduler_address, cluster.security))


def test_the_web_server_of_a_cluster_of_our_own_has_no_pages(cluster: LocalCluster) -> None:
    assert cluster.scheduler is not None
    port = cluster.scheduler.http_server.port
    for page in ("health", "info/main/workers.html", "json/counts.json", "metrics", "status"):
        with pytest.raises(HTTPError, match="404"):
            urlopen(f"http://127.0.0.1:{port}/{page}", timeout=30)


def test_a_cluster_without_workers_or_openssl_is_refused_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clusters, "CLUSTER_TIMEOUT_S", SOON)
    own = {"host": "127.0.0.1", "protocol": "tcp://", "scheduler_kwargs": {"dashboard_address": "127.0.0.1:0"}}

    with (
        LocalCluster(n_workers=0, dashboard_address=None, **own) as empty,
        pytest.raises(BadRequest, match="has no workers"),
    ):
        dask_runner(empty.scheduler_address, 1)

    with pytest.raises(ValueError, match="No clients found"):  # nor is one left that would look for its scheduler
        default_client()
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(BadRequest, match="--executor dask needs openssl"):
        make_tls_key()


def test_a_match_whose_cluster_worker_died_is_retried_by_another(tmp_path: Path) -> None:
    flag = tmp_path / "flag"

    with dask_config.set({"distributed.scheduler.allowed-failures": 0}), dask_runner("", 1) as workers:
        done = [one for one in workers.map(die_once, [flag]) if one is not None]

    assert [thing for thing, _ in done] == [flag]
