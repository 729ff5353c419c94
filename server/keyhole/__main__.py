"""Entry point of `keyhole` and `python -m keyhole`. `--version` is answered before anything else is imported."""

import sys

from keyhole._version import __version__


def main() -> int:
    """Run one command and return its exit code."""
    if sys.argv[1:] == ["--version"]:
        print(f"keyhole {__version__}")
        return 0
    from keyhole.cli import main as cli

    return cli.main()


if __name__ == "__main__":
    raise SystemExit(main())
