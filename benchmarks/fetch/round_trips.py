"""Measure how many round trips a page and a search cost over TLS, at several distances from a site.

    python -m benchmarks.fetch.round_trips [MILLISECONDS…] [--runs N]

Compares Keyhole with httpx, which does not ask for robots.txt: a bare request (TCP, TLS and one request), and a second
request over the same connection (one round trip and the transfer). The site is served by distant_site.py in another
process. The search runs through the whole product, with its worker processes; the engine is not distant.
"""

from __future__ import annotations

import argparse
import asyncio
import ipaddress
import json
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Final
from unittest import mock

import httpx  # noqa: TID251 - the client that is compared
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from benchmarks.fetch.distant_site import QUESTION
from keyhole.config.config import Config
from keyhole.extract.workers.worker_pool import WorkerPool
from keyhole.fetch.client import HttpFetcher, api_endpoints
from keyhole.retrieval.tenants import Tenants
from keyhole.store.open import open_stores
from keyhole.websearch.base import SearchApi
from keyhole.websearch.panel import Panel
from keyhole.websearch.registry import build_engines

DISTANCES: Final = (50, 150)
"""Round trips in milliseconds: to a site of the same continent, and of another one."""
RUNS: Final = 9
SEARCHES: Final = 5


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("distances", nargs="*", type=int, default=list(DISTANCES), metavar="MILLISECONDS")
    parser.add_argument("--runs", type=int, default=RUNS)
    arguments = parser.parse_args()
    print(
        "| round trip | bare request | first page | ratio | second request | second page | ratio | search, 5 pages |\n"
        "|--:|--:|--:|--:|--:|--:|--:|--:|"
    )
    with tempfile.TemporaryDirectory() as folder:
        certificate = write_certificate(Path(folder))
        with (
            mock.patch("certifi.where", return_value=str(certificate)),  # the client trusts this certificate alone
            run_site(certificate, arguments.distances) as ports,
        ):
            for distance in arguments.distances:
                print(asyncio.run(measure(distance, ports, arguments.runs)), flush=True)


def write_certificate(folder: Path) -> Path:
    """Write a self-signed certificate for 127.0.0.1 with its key; return the file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "distant site")])
    now = datetime.now(UTC)
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), 1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([address]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path = folder / "site.pem"
    path.write_bytes(private + certificate.public_bytes(serialization.Encoding.PEM))
    return path


@contextmanager
def run_site(certificate: Path, distances: list[int]) -> Iterator[dict[str, int]]:
    """Run the site and the engine until the block ends; yield their ports."""
    command = [sys.executable, "-m", "benchmarks.fetch.distant_site", str(certificate), *map(str, distances)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())
        process.terminate()


async def measure(distance: int, ports: dict[str, int], runs: int) -> str:
    """Return the row of one distance."""
    endpoint = f"127.0.0.1:{ports[str(distance)]}"
    bare, second_bare = await median_times(lambda: fetch_with_httpx(endpoint), runs)
    first, second = await median_times(lambda: fetch_with_keyhole(endpoint), runs)
    config = Config(
        allow_private=frozenset({endpoint}),
        engines=("searxng",),
        searxng_url=(f"http://127.0.0.1:{ports['engine']}/{ports[str(distance)]}",),
        store="memory",
    )
    workers = WorkerPool(config)
    (search,) = await median_times(lambda: search_with_keyhole(config, workers), SEARCHES)
    await workers.aclose()
    return (
        f"| {distance} ms | {bare:.0f} | {first:.0f} | {first / bare:.2f} "
        f"| {second_bare:.1f} | {second:.1f} | {second / second_bare:.2f} | {search:.0f} |"
    )


async def median_times(work: Callable[[], Awaitable[list[float]]], runs: int) -> list[float]:
    """Return the median milliseconds of each step of some work. A run before the others loads modules and workers."""
    await work()
    steps = zip(*[await work() for _ in range(runs)], strict=True)
    return [1_000 * median(seconds) for seconds in steps]


async def fetch_with_httpx(endpoint: str) -> list[float]:
    """Return the seconds of two requests over one connection."""
    import certifi

    context = ssl.create_default_context(cafile=certifi.where())
    async with httpx.AsyncClient(verify=context, trust_env=False) as client:
        return await time_each([lambda n=n: client.get(f"https://{endpoint}/{n}") for n in (1, 2)])  # type: ignore[misc]


async def fetch_with_keyhole(endpoint: str) -> list[float]:
    """Return the seconds of the first and the second page of the site."""
    config = Config(allow_private=frozenset({endpoint}))
    async with HttpFetcher(config, "Keyhole/1", unlimited=frozenset()) as fetcher:
        return await time_each([lambda n=n: fetcher.fetch(f"https://{endpoint}/{n}") for n in (1, 2)])  # type: ignore[misc]


async def search_with_keyhole(config: Config, workers: WorkerPool) -> list[float]:
    """Return the seconds of a search that reads all pages of the site, of which nothing is known or stored."""
    fetcher = HttpFetcher(config, "Keyhole/1", apis=api_endpoints(config), unlimited=frozenset())
    engine = build_engines(config, SearchApi(fetcher, workers))["searxng"]
    panel = Panel([engine], count=1)
    product = Tenants(config, fetcher, open_stores(config), lambda: panel, time.time, workers)

    async def search() -> None:
        answer = await product.of("").search(QUESTION, max_chars=20_000)
        assert answer.text.count("descaled with vinegar") == 5, answer.text

    try:
        return await time_each([search])
    finally:
        await fetcher.aclose()


async def time_each(steps: list[Callable[[], Awaitable[object]]]) -> list[float]:
    """Return the seconds of each step, one after the other."""
    times = [time.perf_counter()]
    for step in steps:
        await step()
        times.append(time.perf_counter())
    return [end - start for start, end in pairwise(times)]


if __name__ == "__main__":
    main()
