"""Check that killed processes and failing disks lose nothing: `python -m benchmarks.store.durability PART`, or `all`.

`kill`: writers killed with SIGKILL at random moments; after each restart every acknowledged artifact must be there.
`fsync`: strace shows that an artifact is on the disk before it is acknowledged. `full`: a small disk that fills up, a
limit on the size of files, a folder that is unplugged. `readonly`: a read-only folder. `damage`: files that have
flipped bits or random journals, or are truncated, zeroed or replaced. `server`: the complete server over stdio with a
disk that fills up and is freed.

Each part prints counts and exits with 1 if one of them is wrong. --seed determines the moments and the damage. The
small disk needs root and `unshare`, and `fsync` needs strace; without them the part reports it and exits with 1.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from benchmarks.store.faults import damage, kills, outages, stdio_server, syncs

MIN_ACKNOWLEDGED: Final = 1_000
"""Minimum number of acknowledged artifacts in 200 kills."""
DISK_MEGABYTES: Final = 8
"""Size of the small disk."""
TIMEOUT: Final = 1_800
"""Seconds for a part that runs in a subprocess."""


def main() -> int:
    """Run one part, or all of them."""
    arguments = _arguments()
    logging.basicConfig(level=logging.CRITICAL)
    parts = list(PARTS) if arguments.part == "all" else [arguments.part]
    return max(_run_part(part, arguments) for part in parts)


def _run_part(part: str, arguments: argparse.Namespace) -> int:
    begun = time.monotonic()
    missed = PARTS[part](arguments) if part in PARTS else SUBPROCESS_PARTS[part](arguments)
    if part in PARTS:
        print(f"{part}: {'FAILED' if missed else 'passed'}, {time.monotonic() - begun:.0f} s\n", flush=True)
    return int(missed)


def _kill(arguments: argparse.Namespace) -> bool:
    done = kills.run_kills(arguments.runs, arguments.seed)
    print(
        f"kill -9: {done.runs} runs, {len(done.acknowledged):,} acknowledged, "
        f"{done.in_transaction} died within a transaction"
    )
    print(f"  {done.in_memory} more were stored in memory only: the file was locked for too long")
    print(f"  {done.tally}" + (f": {', '.join(sorted(done.left))}" if done.left else ""))
    enough = len(done.acknowledged) >= min(MIN_ACKNOWLEDGED, MIN_ACKNOWLEDGED * arguments.runs // 200)
    return bool(done.tally.missed) or not enough


def _fsync(arguments: argparse.Namespace) -> bool:
    if not shutil.which("strace"):
        print("fsync: strace is not installed")
        return True
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch).resolve() / "home"
        puts = syncs.split_puts(syncs.trace(home, arguments.puts), str(home))
    wrong = [fault for events in puts for fault in syncs.find_faults(events)]
    print(
        f"fsync: {len(puts)} puts traced, {len(wrong)} faults" + "".join(f"\n  {each}" for each in sorted(set(wrong)))
    )
    print(f"  {syncs.format_order(puts[-1])}" if puts else "")
    return bool(wrong) or len(puts) != arguments.puts


def _full(arguments: argparse.Namespace) -> bool:
    missed = _run_outage("a limit on the size of files", outages.limit_file_size, arguments)
    missed |= _run_outage("a folder that is unplugged", outages.unplug_folder, arguments)
    return _run_in_subprocess("full-disk", arguments) | missed


def _full_disk(arguments: argparse.Namespace) -> bool:
    with tempfile.TemporaryDirectory() as folder, outages.small_disk(Path(folder), DISK_MEGABYTES):
        outage = outages.fill_small_disk(Path(folder, "home"))
        return _report("a small disk that fills up", outages.run_outage(outage, arguments.puts))


def _readonly(arguments: argparse.Namespace) -> bool:
    if os.getuid() != 0:
        return _run_outage("a folder that is read only", outages.make_read_only, arguments)
    return _run_in_subprocess("readonly-user", arguments, prefix=())


def _readonly_user(arguments: argparse.Namespace) -> bool:
    outages.become_nobody(arguments.home)
    outage = outages.make_read_only(arguments.home)
    return _report("a folder that is read only", outages.run_outage(outage, arguments.puts))


def _run_outage(label: str, make_outage: Callable[[Path], outages.Outage], arguments: argparse.Namespace) -> bool:
    with tempfile.TemporaryDirectory() as scratch:
        return _report(label, outages.run_outage(make_outage(Path(scratch, "home")), arguments.puts))


def _report(label: str, done: outages.OutageResult) -> bool:
    print(
        f"{label}: {done.puts} puts, {done.in_memory} of them stored in memory, "
        f"on the disk after {done.back_after:.1f} s"
    )
    print(f"  {done.tally}", flush=True)
    return bool(done.tally.missed) or not done.in_memory


def _damage(arguments: argparse.Namespace) -> bool:
    with tempfile.TemporaryDirectory() as scratch:
        done = damage.run_damage(arguments.files, arguments.seed, Path(scratch))
    print(f"damage: {done.files} files, {done.unchanged} unchanged, {done.warned} reported by a warning or an error")
    print(f"  {done.tally}")
    print("".join(f"  {kind}: files {numbers}\n" for kind, numbers in done.missed.items()), end="")
    return bool(done.tally.missed)


def _server(arguments: argparse.Namespace) -> bool:
    with tempfile.TemporaryDirectory() as scratch:
        missed = _run_server(
            "a limit on the size of files", Path(scratch, "home"), stdio_server.limit_file_size, arguments
        )
    return _run_in_subprocess("server-disk", arguments) | missed


def _server_disk(arguments: argparse.Namespace) -> bool:
    with tempfile.TemporaryDirectory() as folder, outages.small_disk(Path(folder), DISK_MEGABYTES):
        return _run_server("a small disk that fills up", Path(folder, "home"), stdio_server.fill_disk, arguments)


def _run_server(
    label: str, home: Path, make_outage: Callable[[Path, int], outages.Outage], arguments: argparse.Namespace
) -> bool:
    done = asyncio.run(stdio_server.run_server(home, make_outage, arguments.puts))
    print(f"the server, {label}: {done.fetched} pages fetched, {done.read} reads, {done.warned} warnings")
    print(f"  on the disk after {done.back_after:.1f} s; {done.tally}", flush=True)
    return bool(done.tally.missed)


def _run_in_subprocess(
    part: str, arguments: argparse.Namespace, prefix: Iterable[str] = ("unshare", "--mount")
) -> bool:
    """Run a part in a subprocess with its own mounts or user; return whether it failed."""
    if prefix and (os.getuid() != 0 or not shutil.which("unshare")):
        print(f"{part}: needs root and unshare")
        return True
    with tempfile.TemporaryDirectory() as scratch:
        Path(scratch).chmod(0o777)
        command = [sys.executable, "-m", "benchmarks.store.durability", part]
        command += ["--puts", str(arguments.puts), "--home", f"{scratch}/home"]
        run = subprocess.run([*prefix, *command], env=kills.environment(), check=False, timeout=TIMEOUT)
        return run.returncode != 0


PARTS: Final[dict[str, Callable[[argparse.Namespace], bool]]] = {
    "kill": _kill, "fsync": _fsync, "full": _full, "readonly": _readonly, "damage": _damage, "server": _server,
}  # fmt: skip
SUBPROCESS_PARTS: Final[dict[str, Callable[[argparse.Namespace], bool]]] = {
    "full-disk": _full_disk, "readonly-user": _readonly_user, "server-disk": _server_disk,
}  # fmt: skip
"""Parts that the parts above run in a subprocess."""


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "part", choices=[*PARTS, "all", *SUBPROCESS_PARTS], metavar="PART", help=f"{', '.join(PARTS)} or all"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=int, default=200, help="runs of kill (default 200)")
    parser.add_argument("--files", type=int, default=200, help="files of damage (default 200)")
    parser.add_argument("--puts", type=int, default=20, help="artifacts before, during and after an outage")
    parser.add_argument("--home", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
