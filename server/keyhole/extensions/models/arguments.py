"""The arguments of `keyhole models`."""

from __future__ import annotations

from typing import Any, Final

from keyhole.cli.parser import Parser

ACTIONS: Final = ("list", "get", "verify", "rm")
KINDS: Final = ("embedding", "late-interaction", "cross-encoder", "static")
DESCRIPTION: Final = """\
Manage local models, which rank passages by meaning beside their words. The model that was installed last is used, from
the next start of a server on; KEYHOLE_MODEL names another one or turns them off. Nothing that is read leaves the
machine."""
_EXAMPLES: Final = (
    "keyhole models",
    "keyhole models get potion-base-8m",
    "keyhole models get my-model --from ~/downloads/my-model",
    "keyhole models verify",
    "keyhole models rm potion-base-8m",
)


def add_models(commands: Any) -> None:
    """Add `keyhole models` to the parser's commands."""
    models: Parser = commands.add_parser(
        "models", help="install a local model that ranks passages by meaning", description=DESCRIPTION,
        examples=_EXAMPLES,
    )  # fmt: skip
    models.add_argument("action", nargs="?", choices=ACTIONS, default="list", help="what to do, default list")
    models.add_argument("name", nargs="?", metavar="NAME", help="name of a model; verify without a name checks all")
    models.add_argument(
        "--from", dest="source", metavar="FOLDER",
        help="get: copy the model of a folder that has model.onnx or model.safetensors, and tokenizer.json",
    )  # fmt: skip
    models.add_argument("--kind", choices=KINDS, help="get --from: what the model computes, if its files do not tell")
    models.add_argument("--weights", metavar="FILE", help="get --from: the file of the weights, if there are several")
    models.add_argument(
        "--query-prefix", default="", metavar="TEXT", help="get --from: what the model needs before a query"
    )
    models.add_argument(
        "--text-prefix", default="", metavar="TEXT", help="get --from: what the model needs before a text"
    )
    models.add_argument("--json", action="store_true", help="print JSON, for programs")
