"""Count the public IPv6 addresses that are refused because they look like an embedded private IPv4 address.

    python -m benchmarks.fetch.public_addresses

`public_ipv6.tsv` lists addresses of public servers with name and source. The other rows are drawn under one prefix, in
the ways in which administrators and operating systems choose the last 64 bits.
"""

from __future__ import annotations

import csv
import random
import sys
from collections import Counter
from collections.abc import Iterator
from ipaddress import IPv6Address
from pathlib import Path
from typing import Final

from keyhole.fetch.addresses import address_refusal

TABLE: Final = Path(__file__).with_name("public_ipv6.tsv")
DRAWS: Final = 100_000
PREFIX: Final = int(IPv6Address("2a01:4f8:c0c:3c03::"))
"""A prefix of a hosting network. The rules for its addresses do not depend on which network it is."""


def main() -> int:
    """Print one row per source: addresses, refused, and the refused names of the table."""
    rows = read_table()
    counts = Counter(source for _, _, source in rows)
    refused = [(name, address, source) for address, name, source in rows if address_refusal(address)]
    refused_counts = Counter(source for _, _, source in refused)
    print("| source | addresses | refused |\n|---|--:|--:|")
    for source, count in counts.items():
        print(f"| {source} | {count:,} | {refused_counts[source]} |")
    print(f"| all of the table | {len(rows):,} | {len(refused)} |")
    for kind, addresses in drawn().items():
        print(f"| {kind} | {len(addresses):,} | {sum(bool(address_refusal(address)) for address in addresses)} |")
    for name, address, _ in refused:
        print(f"refused: {address} {name} ({address_refusal(address)})", file=sys.stderr)
    return 0


def read_table() -> list[tuple[str, str, str]]:
    """Return address, name and source of each row."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        return [(row["address"], row["name"], row["source"]) for row in csv.DictReader(file, delimiter="\t")]


def drawn() -> dict[str, list[str]]:
    """Return addresses by the way in which their last 64 bits are chosen, the same at each call."""
    chance = random.Random(4)

    def draw(identifiers: Iterator[int]) -> list[str]:
        return [str(IPv6Address(PREFIX | identifier)) for identifier in identifiers]

    return {
        "random bits, RFC 8981": draw(chance.getrandbits(64) for _ in range(DRAWS)),
        "of a hardware address, RFC 4291": draw(_modified_eui64(chance.getrandbits(48)) for _ in range(DRAWS)),
        "a number, ::1 to ::ffff": draw(iter(range(1, 65_536))),
        "two numbers, ::1:1 to ::ff:ff": draw(high << 16 | low for high in range(1, 256) for low in range(1, 256)),
        "two words, ::1:1 to ::ffff:ffff": draw(chance.getrandbits(32) | 0x1_0000 for _ in range(DRAWS)),
    }


def _modified_eui64(mac: int) -> int:
    """Return the identifier that an operating system derives from a 48-bit hardware address."""
    return (mac >> 24 << 40 | 0xFFFE << 24 | mac & 0xFF_FFFF) ^ 1 << 57


if __name__ == "__main__":
    sys.exit(main())
