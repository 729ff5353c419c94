"""Print records of a shop as CSV, JSON or JSON Lines, drawn with a fixed seed; a few stand out.

python -m benchmarks.outputs.make.printed_data NAME
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator

PEOPLE = [
    f"{first} {last}"
    for first in "Ada Bo Cem Dea Eli Fay Gus Hal Ida Jon".split()
    for last in "Abt Berg Cole Diaz Eck Funk Gray".split()
]
COUNTRIES = "AT DE FR IT ES PL SE HU".split()
PATHS = "/cart /orders /orders/export /login /items /items/search /refunds /health".split()


def orders() -> Iterator[str]:
    """Yield 3,000 orders as CSV; number 2217 is a refund with a remark."""
    yield "id,customer,country,sku,count,cents,state,remark"
    for number in range(1, 3_001):
        refund = number == 2_217
        state = "refunded" if refund else random.choice(("paid", "paid", "shipped", "open"))
        remark = "arrived broken" if refund else ""
        yield f"{number},{random.choice(PEOPLE)},{random.choice(COUNTRIES)},SKU-{random.randint(100, 999)},{random.randint(1, 9)},{random.randint(99, 90_000)},{state},{remark}"


def sensors() -> Iterator[str]:
    """Yield measurements as CSV; one of them is far off."""
    yield "time,sensor,celsius,humidity,status"
    for number in range(6_000):
        hot = number == 4_102
        clock = f"2026-03-{1 + number // 250:02}T{number % 24:02}:{number % 60:02}:00Z"
        yield f"{clock},{'boiler-3' if hot else f'room-{number % 17}'},{97.4 if hot else round(random.gauss(20, 2), 1)},{random.randint(30, 60)},{'ALARM' if hot else 'ok'}"


def requests() -> Iterator[str]:
    """Yield requests as JSON Lines; a few fail with status 500 because of a missing table."""
    for number in range(2_500):
        failed = number in (1_311, 1_312, 1_490)
        record = {"time": f"2026-03-14T{number // 110:02}:{number % 60:02}:07Z", "level": "error" if failed else "info",
                  "method": random.choice(("GET", "POST")), "path": "/orders/export" if failed else random.choice(PATHS),
                  "status": 500 if failed else random.choice((200, 200, 200, 204, 304)), "ms": random.randint(2, 400),
                  "request": f"r-{number:05}", "user": random.choice(PEOPLE)}  # fmt: skip
        if failed:
            record["error"] = 'relation "export_jobs" does not exist'
        yield json.dumps(record)


def events() -> Iterator[str]:
    """Yield nested events as JSON Lines; the card of one customer is declined."""
    for number in range(1_200):
        declined = number == 777
        yield json.dumps({"id": f"evt_{number:05}", "type": "charge.failed" if declined else random.choice(("charge.succeeded", "invoice.paid", "customer.updated")),
                          "data": {"object": {"amount": random.randint(100, 99_999), "customer": {"name": random.choice(PEOPLE), "country": random.choice(COUNTRIES)},
                                              "outcome": {"code": "insufficient_funds" if declined else "approved", "risk": random.randint(1, 60)}}}})  # fmt: skip


def audit() -> Iterator[str]:
    """Yield who changed which setting as JSON Lines; one change is by an unknown user."""
    for number in range(4_000):
        odd = number == 2_908
        yield json.dumps({"seq": number, "who": "svc-legacy@example.org" if odd else f"user{random.randint(1, 60)}@example.com",
                          "action": "role.grant" if odd else random.choice(("setting.read", "setting.write", "login")),
                          "target": "billing-admin" if odd else f"setting-{random.randint(1, 300)}"})  # fmt: skip


def units() -> Iterator[str]:
    """Yield a journal as `journalctl -o json` prints it; one unit is killed."""
    for number in range(1_500):
        killed = number == 1_122
        yield json.dumps({"__REALTIME_TIMESTAMP": str(1_773_468_000_000_000 + number * 731_213), "_SYSTEMD_UNIT": "shop-mail.service" if killed else random.choice(("cron.service", "shop-web.service", "ssh.service")),
                          "PRIORITY": "3" if killed else "6", "_PID": str(random.randint(200, 30_000)), "_HOSTNAME": "shop-2",
                          "MESSAGE": "Watchdog timeout (limit 3min)!" if killed else f"job {number} done after {random.randint(1, 900)} ms"})  # fmt: skip


def services() -> Iterator[str]:
    """Yield one indented JSON document with 400 services; one of them is degraded."""
    rows = []
    for number in range(400):
        bad = number == 263
        rows.append({"name": f"service-{number}", "status": "degraded" if bad else "healthy", "version": f"2.{random.randint(0, 40)}.{random.randint(0, 9)}",
                     "replicas": {"wanted": 3, "ready": 1 if bad else 3}, "owner": random.choice(PEOPLE), "region": random.choice(("eu-north", "eu-west", "us-east")),
                     "ports": [8_000 + number, 9_000 + number], "message": "certificate of upstream mail.example expired" if bad else ""})  # fmt: skip
    yield json.dumps({"cluster": "shop-2", "services": rows, "total": 400}, indent=2)


PRINTERS = {f.__name__: f for f in (orders, sensors, requests, events, audit, units, services)}

if __name__ == "__main__":
    random.seed(sys.argv[1])
    for line in PRINTERS[sys.argv[1]]():
        print(line)
