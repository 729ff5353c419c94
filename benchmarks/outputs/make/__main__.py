"""Run the recipes of `recipes.jsonl` and pack their outputs into the corpus.

    python -m benchmarks.outputs.make [PROGRAM…]      run the recipes (of these programs) and keep what they print
    python -m benchmarks.outputs.make --pack          write `corpus.jsonl.xz` from what was kept

Needs the Debian packages golang-go, tree, ripgrep, junit4, nginx and a JDK, gcc, cargo, node and npm; the packages of
PyPI and npm are downloaded. Outputs hold times and versions, so a second run does not give the same bytes: the
committed corpus is the one that the questions were checked against.
"""

from __future__ import annotations

import argparse
import json
import lzma
from pathlib import Path

from benchmarks.outputs.corpus import CORPUS
from benchmarks.outputs.make.recipe import Recipe, load_recipes
from benchmarks.outputs.make.workspace import CACHE, clean, install_tools, run

RECIPES = load_recipes()
MIN_BYTES, MAX_BYTES = 5_000, 5_000_000
"""Sizes of outputs in the corpus: a smaller one needs no bounding."""


def main() -> int:
    """Run or pack."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("programs", nargs="*", help="only recipes whose id begins with one of these")
    parser.add_argument("--pack", action="store_true")
    arguments = parser.parse_args()
    if arguments.pack:
        return pack()
    install_tools()
    for recipe in RECIPES:
        if not arguments.programs or recipe.id.startswith(tuple(arguments.programs)):
            exit_status, text = run(recipe)
            print(f"{recipe.id:32} exit {exit_status:3} {len(text.encode()):9,} bytes", flush=True)
            keep(recipe, exit_status, text)
    return 0


def keep(recipe: Recipe, exit_status: int, text: str) -> None:
    """Write an output and its description into the cache."""
    record = {"id": recipe.id, "kind": recipe.kind, "command": recipe.command, "exit": exit_status, "text": text}
    path = _path(recipe)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record), encoding="utf-8")
    path.with_suffix(".out").write_text(text, encoding="utf-8", newline="")


def pack() -> int:
    """Write the kept outputs of a fit size into the corpus, in the order of the recipes."""
    lines = [clean(_path(recipe).read_text(encoding="utf-8")) for recipe in RECIPES if _path(recipe).exists()]
    fit = [line for line in lines if MIN_BYTES <= len(json.loads(line)["text"].encode()) <= MAX_BYTES]
    packed = lzma.compress("".join(f"{line}\n" for line in fit).encode(), preset=9 | lzma.PRESET_EXTREME)
    CORPUS.write_bytes(packed)
    print(f"{len(fit)} of {len(RECIPES)} outputs, {len(packed):,} bytes")
    return 0


def _path(recipe: Recipe) -> Path:
    return CACHE / "raw" / f"{recipe.id.replace('/', '--')}.json"


if __name__ == "__main__":
    raise SystemExit(main())
