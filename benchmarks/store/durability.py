"""What is left when a process is killed or a disk fails: `python -m benchmarks.store.durability PART`, or `all` of them.

`kill`: writers killed with SIGKILL at random moments; after each restart every acknowledged artifact must be there.
`fsync`: strace shows that an artifact is on the disk before it is acknowledged. `full`: a small disk that fills up, a
limit on the size of files, a folder that is unplugged. `readonly`: a folder that may not be written. `damage`: files
with flipped bits, cut short, zeroed, replaced, beside garbage journals. `server`: the whole server over stdio with a
disk that fills up and is freed.

Each part prints counts and ends with 1 where one is not what it must be. Moments and damage follow from --seed. The
small disk needs root and `unshare`, the order of syncs needs strace; without them that part says so and ends with 1.
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

from benchmarks.store.faults import damaged, full, killed, served, traced

ENOUGH: Final = 1_000
"""Artifacts that must have been acknowledged by a whole series of kills."""
DISK: Final = 8
"""Megabytes of the small disk."""
SECONDS: Final = 1_800
"""Within which a part ends that runs in a process of its own."""


def main() -> int:
    """Run one part, or all of them."""
    arguments = _arguments()
    logging.basicConfig(level=logging.CRITICAL)
    parts = list(PARTS) if arguments.part == "all" else [arguments.part]
    return max(_timed(part, arguments) for part in parts)


def _timed(part: str, arguments: argparse.Namespace) -> int:
    begun = time.monotonic()
    missed = PARTS[part](arguments) if part in PARTS else INSIDE[part](arguments)
    if part in PARTS:
        print(f"{part}: {'MISSED' if missed else 'as it must be'}, {time.monotonic() - begun:.0f} s\n", flush=True)
    return int(missed)


def _kill(arguments: argparse.Namespace) -> bool:
    done = killed.kill(arguments.runs, arguments.seed)
    print(f"kill -9: {done.runs} runs, {len(done.acknowledged):,} acknowledged, {done.hot} died within a transaction")
    print(f"  {done.held} more were said to be held in memory only: the file was locked for too long")
    print(f"  {done.tally}" + (f": {', '.join(sorted(done.left))}" if done.left else ""))
    enough = len(done.acknowledged) >= min(ENOUGH, ENOUGH * arguments.runs // 200)
    return bool(done.tally.missed) or not enough


def _fsync(arguments: argparse.Namespace) -> bool:
    if not shutil.which("strace"):
        print("fsync: strace is not installed")
        return True
    with tempfile.TemporaryDirectory() as scratch:
        home = Path(scratch).resolve() / "home"
        puts = traced.puts(traced.trace(home, arguments.puts), str(home))
    wrong = [fault for events in puts for fault in traced.faults(events)]
    print(
        f"fsync: {len(puts)} puts traced, {len(wrong)} faults" + "".join(f"\n  {each}" for each in sorted(set(wrong)))
    )
    print(f"  {traced.order(puts[-1])}" if puts else "")
    return bool(wrong) or len(puts) != arguments.puts


def _full(arguments: argparse.Namespace) -> bool:
    missed = _outlived("a limit on the size of files", full.by_limit, arguments)
    missed |= _outlived("a folder that is unplugged", full.by_absence, arguments)
    return _apart("full-disk", arguments) | missed


def _full_disk(arguments: argparse.Namespace) -> bool:
    with tempfile.TemporaryDirectory() as folder, full.small_disk(Path(folder), DISK):
        return _report("a small disk that fills up", full.outlive(full.by_filler(Path(folder, "home")), arguments.puts))


def _readonly(arguments: argparse.Namespace) -> bool:
    if os.getuid() != 0:
        return _outlived("a folder that is read only", full.by_mode, arguments)
    return _apart("readonly-user", arguments, apart=())


def _readonly_user(arguments: argparse.Namespace) -> bool:
    full.as_nobody(arguments.home)
    return _report("a folder that is read only", full.outlive(full.by_mode(arguments.home), arguments.puts))


def _outlived(what: str, way: Callable[[Path], full.Failing], arguments: argparse.Namespace) -> bool:
    with tempfile.TemporaryDirectory() as scratch:
        return _report(what, full.outlive(way(Path(scratch, "home")), arguments.puts))


def _report(what: str, done: full.Outlived) -> bool:
    print(f"{what}: {done.puts} puts, {done.held} of them held in memory, on the disk after {done.back_after:.1f} s")
    print(f"  {done.tally}", flush=True)
    return bool(done.tally.missed) or not done.held


def _damage(arguments: argparse.Namespace) -> bool:
    with tempfile.TemporaryDirectory() as scratch:
        done = damaged.damage(arguments.files, arguments.seed, Path(scratch))
    print(f"damage: {done.files} files, {done.whole} read as before, {done.warned} told by a warning or an error")
    print(f"  {done.tally}")
    print("".join(f"  {kind}: files {numbers}\n" for kind, numbers in done.missed.items()), end="")
    return bool(done.tally.missed)


def _server(arguments: argparse.Namespace) -> bool:
    with tempfile.TemporaryDirectory() as scratch:
        missed = _serve_through("a limit on the size of files", Path(scratch, "home"), served.limited, arguments)
    return _apart("server-disk", arguments) | missed


def _server_disk(arguments: argparse.Namespace) -> bool:
    with tempfile.TemporaryDirectory() as folder, full.small_disk(Path(folder), DISK):
        return _serve_through("a small disk that fills up", Path(folder, "home"), served.filled, arguments)


def _serve_through(
    what: str, home: Path, way: Callable[[Path, int], full.Failing], arguments: argparse.Namespace
) -> bool:
    done = asyncio.run(served.live_through(home, way, arguments.puts))
    print(f"the server, {what}: {done.fetched} pages fetched, {done.read} times one read on, {done.warned} warnings")
    print(f"  on the disk after {done.back_after:.1f} s; {done.tally}", flush=True)
    return bool(done.tally.missed)


def _apart(part: str, arguments: argparse.Namespace, apart: Iterable[str] = ("unshare", "--mount")) -> bool:
    """A part in a process of its own, whose mounts or whose user nobody else sees."""
    if apart and (os.getuid() != 0 or not shutil.which("unshare")):
        print(f"{part}: needs root and unshare")
        return True
    with tempfile.TemporaryDirectory() as scratch:
        Path(scratch).chmod(0o777)
        own = [sys.executable, __file__, part, "--puts", str(arguments.puts), "--home", f"{scratch}/home"]
        return subprocess.run([*apart, *own], check=False, timeout=SECONDS).returncode != 0


PARTS: Final[dict[str, Callable[[argparse.Namespace], bool]]] = {
    "kill": _kill, "fsync": _fsync, "full": _full, "readonly": _readonly, "damage": _damage, "server": _server,
}  # fmt: skip
INSIDE: Final[dict[str, Callable[[argparse.Namespace], bool]]] = {
    "full-disk": _full_disk, "readonly-user": _readonly_user, "server-disk": _server_disk,
}  # fmt: skip
"""What the parts above start in a process of its own."""


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=[*PARTS, "all", *INSIDE], metavar="PART", help=f"{', '.join(PARTS)} or all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=int, default=200, help="runs of kill; default 200")
    parser.add_argument("--files", type=int, default=200, help="files of damage; default 200")
    parser.add_argument("--puts", type=int, default=20, help="artifacts before, while and after a disk fails")
    parser.add_argument("--home", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
