"""Print logs in the formats of services that cannot run here, with one fault among many ordinary lines.

    python -m benchmarks.outputs.make.printed_logs NAME

The formats are those of the real programs; names, numbers and times are drawn with a fixed seed.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

START = datetime(2026, 3, 14, 6, 0, tzinfo=UTC)
WORDS = "cart order invoice session basket coupon address payment refund stock label parcel".split()
RED, GREEN, GREY, PLAIN = "\x1b[31m", "\x1b[32m", "\x1b[90m", "\x1b[0m"

ORDINARY = {
    "journal": "{t:%b %d %H:%M:%S} shop-2 {unit}[{pid}]: {word} worker finished {n} items in {ms} ms",
    "syslog": "{t:%b %d %H:%M:%S} db-1 kernel: [{n}.{ms:06}] eth0: {word} link is up, {n} Mbps full duplex",
    "app": "{t:%Y-%m-%dT%H:%M:%S}.{ms:03}Z INFO  [{unit}-{pid}] com.example.shop.{word} - handled {word} {n} in {ms} ms",
    "kube": '{t:%H:%M:%S}  Normal  Pulled  pod/{word}-{pid}  Container image "registry.example/{word}:1.{ms}" already present',
    "docker": "#{step} {ms}.{n:03} Get:{n} http://deb.debian.org/debian bookworm/main amd64 lib{word}{pid} [{ms} kB]",
    "postgres": "{t:%Y-%m-%d %H:%M:%S}.{ms:03} UTC [{pid}] LOG:  duration: {ms}.{n} ms  statement: SELECT * FROM {word} WHERE id = {n}",
    "redis": "{pid}:M {t:%d %b %Y %H:%M:%S}.{ms:03} * {n} changes in 60 seconds. Saving {word}...",
    "ci": "{t:%Y-%m-%dT%H:%M:%S}.{ms:03}0000Z [{word}] step {n} passed in {ms} ms",
    "deploy": "ok: [shop-{pid}.example] => (item={word}-{n})",
    "terraform": "module.{word}.aws_instance.web[{n}]: Still creating... [{ms}s elapsed]",
}
FAULTS = {
    "journal/boot": (1_400, ["shop-db.service: Main process exited, code=exited, status=3/NOTIMPLEMENTED", "shop-db.service: Failed with result 'exit-code'.", "Dependency failed for shop-web.service - Web front of the shop."]),
    "journal/oom": (2_500, ["Out of memory: Killed process 4711 (shop-import) total-vm:9216044kB, anon-rss:7340032kB", "shop-import.service: A process of this unit has been killed by the OOM killer."]),
    "syslog/disk": (1_200, ["blk_update_request: I/O error, dev sdb, sector 20482048 op 0x1:(WRITE)", "EXT4-fs error (device sdb1): ext4_find_entry:1612: inode #2: comm shop: reading directory lblock 0", "EXT4-fs (sdb1): Remounting filesystem read-only"]),
    "app/rotate": (6_000, ["ERROR [rotate-7] com.example.shop.Keys - signing key k-2026-03 is expired since 2026-03-13T23:59:59Z", "WARN  [rotate-7] com.example.shop.Keys - 218 sessions were refused"]),
    "app/pool": (20_000, ["ERROR [http-31] com.zaxxer.hikari.pool.HikariPool - shop-pool - Connection is not available, request timed out after 30000ms.", "Caused by: org.postgresql.util.PSQLException: FATAL: sorry, too many clients already"]),
    "kube/events": (900, ["Warning  FailedScheduling  pod/invoice-7c9  0/6 nodes are available: 6 Insufficient memory.", "Warning  BackOff  pod/coupon-551  Back-off restarting failed container web in pod coupon-551"]),
    "docker/build": (700, ["#14 ERROR: process \"/bin/sh -c pip install -r requirements.txt\" did not complete successfully: exit code: 1", "#14 41.20 ERROR: No matching distribution found for shop-client==4.2.0"]),
    "postgres/log": (3_000, ["[9021] ERROR:  deadlock detected", "[9021] DETAIL:  Process 9021 waits for ShareLock on transaction 77120; blocked by process 9034.", "[9021] STATEMENT:  UPDATE stock SET count = count - 1 WHERE sku = 'SKU-88'"]),
    "redis/log": (900, ["MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk", "# Failed opening the temp RDB file temp-4711.rdb (in server root dir /var/lib/redis) for saving: Permission denied"]),
    "ci/actions": (2_200, ["##[error]Process completed with exit code 137.", "##[warning]The runner has received a shutdown signal."]),
    "deploy/ansible": (800, ["fatal: [shop-db2.example]: FAILED! => {\"changed\": false, \"msg\": \"Could not find the requested service shopd: host\"}", "shop-db2.example           : ok=17   changed=3    unreachable=0    failed=1    skipped=4"]),
    "terraform/plan": (500, ["Error: creating EC2 Instance: VcpuLimitExceeded: You have requested more vCPU capacity than your current vCPU limit of 32 allows", "  with module.order.aws_instance.web[7],"]),
}  # fmt: skip
"""How many ordinary lines are printed, and the lines of the fault."""


def print_log(name: str) -> Iterator[str]:
    """Yield the lines of the log `name`."""
    random.seed(name)
    if name.startswith("progress/"):
        yield from print_progress(name)
        return
    count, fault = FAULTS[name]
    place = int(count * random.uniform(0.3, 0.8))
    time = START
    for number in range(count):
        time += timedelta(milliseconds=random.randint(5, 9_000))
        if number == place:
            yield from fault
        yield ORDINARY[name.partition("/")[0]].format(
            t=time, unit=random.choice(("shop-web", "shop-job", "cron")), pid=random.randint(200, 999),
            word=random.choice(WORDS), n=random.randint(1, 999), ms=random.randint(1, 900), step=number // 90,
        )  # fmt: skip


def print_progress(name: str) -> Iterator[str]:
    """Yield lines that redraw themselves with carriage returns, or that are coloured."""
    if name == "progress/ansi":
        for number in range(400):
            colour = RED if number == 233 else GREEN
            state = "FAILED checksum differs" if number == 233 else "done"
            yield f"{GREY}{number:4}{PLAIN} {colour}{state}{PLAIN} photos/{random.choice(WORDS)}-{number}.jpg"
        yield f"{RED}1 of 400 files failed{PLAIN}"
    for part in range(1, 13 if name == "progress/download" else 0):
        line = "".join(
            f"\rpart-{part:02}.bin {share:3}% |{'#' * (share // 4):25}| {share * 1.7:6.1f}MB"
            for share in range(0, 101, 2)
        )
        yield line + ("\nretrying part-08.bin: connection reset after 61.2MB" if part == 8 else "")
    for epoch in range(1, 31 if name == "progress/training" else 0):
        steps = "".join(
            f"\rEpoch {epoch}/30: {step:3}/120 loss={3 / epoch + step / 900:.4f}" for step in range(1, 121, 3)
        )
        yield f"{steps}\nepoch {epoch} validation loss {'nan' if epoch == 19 else f'{2.9 / epoch:.4f}'}"
    if name == "progress/training":
        yield "best checkpoint: epoch 30, kept at runs/7/best.pt; 1 epoch had a loss that is not a number"


if __name__ == "__main__":
    for line in print_log(sys.argv[1]):
        print(line)
