"""The arguments of `keyhole compact`."""

from __future__ import annotations

from typing import Any, Final

from keyhole.cli.parser import Parser

CONVERSATION_FORMATS: Final = ("auto", "responses", "chat", "anthropic", "gemini", "langchain", "pydantic-ai")
DEFAULT_KEEP_LAST: Final = 3
DEFAULT_TARGET: Final = 0.45
HELP: Final = "print a conversation with a model within a number of tokens, and store what is left out"
DESCRIPTION: Final = """\
Print a conversation with a model within a number of tokens. Old tool results are replaced first, then the oldest turns
are left out, each with its calls and results. Keyhole stores these parts, and the conversation names the calls that
read them. The result has the format of the input; a summary is printed to standard error. With --restore, a compacted
conversation is printed as it was before."""
EXAMPLES: Final = (
    "keyhole compact request.json --max-tokens 100000",
    "keyhole compact compacted.json --restore",
)


def add_compact(commands: Any) -> None:
    """Add `keyhole compact` to the parser's commands."""
    compact: Parser = commands.add_parser("compact", help=HELP, description=DESCRIPTION, examples=EXAMPLES)
    compact.add_argument("--json", action="store_true", help="print the conversation and the report as one JSON object")
    compact.add_argument(
        "file", metavar="FILE", help="a JSON list of messages or items, or a request with them; - for standard input"
    )
    compact.add_argument(
        "--max-tokens", type=int, metavar="N", help="tokens of the conversation, or of the whole request"
    )
    compact.add_argument(
        "--format", choices=CONVERSATION_FORMATS, default="auto", help="format of the conversation, default auto"
    )
    compact.add_argument(
        "--keep-last",
        type=int,
        default=DEFAULT_KEEP_LAST,
        metavar="N",
        help="last turns of the model that are kept whole, default 3",
    )
    compact.add_argument(
        "--target",
        type=float,
        default=DEFAULT_TARGET,
        metavar="S",
        help="share of the budget that is used after history was left out, default 0.45",
    )
    compact.add_argument(
        "--restore", action="store_true", help="print the conversation as it was before it was compacted"
    )
    compact.add_argument(
        "--partial", action="store_true", help="with --restore: leave what the store does not have as it is"
    )
