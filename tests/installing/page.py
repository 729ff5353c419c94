"""The table of docs/install.md, made from the code. `PYTHONPATH=tests python -m installing.page` writes it anew."""

from __future__ import annotations

from pathlib import Path

from keyhole.installing.clients import CLIENTS, Client
from keyhole.installing.places import Machine

PAGE = Path(__file__).resolve().parents[2] / "docs" / "install.md"
BEGIN, END = "<!-- begin:clients -->", "<!-- end:clients -->"


def rendered(text: str) -> str:
    """The page with its table made anew."""
    before, _, rest = text.partition(BEGIN)
    rows = [
        "| client | the user's file | a folder's file | takes an address | source |",
        "| --- | --- | --- | --- | --- |",
    ]
    rows += [_row(client) for client in CLIENTS.values()]
    return f"{before}{BEGIN}\n" + "\n".join(rows) + f"\n{END}{rest.partition(END)[2]}"


def _row(client: Client) -> str:
    machine = Machine("linux", Path("~"), Path(), {})
    project = f"`{client.project}`" if client.project else ""
    cells = (
        f"`{client.name}`", f"`{client.user(machine)[0].as_posix()}`", project, "yes" if client.shape.url else "no",
        f"[{client.title}]({client.source})",
    )  # fmt: skip
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    PAGE.write_text(rendered(PAGE.read_text("utf-8")), "utf-8")
