"""Entry points of `keyhole`, `python -m keyhole` and `keyhole-reader`.

`--version` is answered before anything else is imported. `hook` and `shell`, which clients run at each tool call, need
neither the parser nor the settings of the other commands.
"""

import os
import sys

from keyhole._version import __version__


def main() -> int:
    """Run one command and return its exit code."""
    if sys.argv[1:] == ["--version"]:
        print(f"keyhole {__version__}")
        return 0
    if sys.argv[1:2] == ["hook"]:
        from keyhole.cli import hook_command

        if hook_command.is_plain(sys.argv[2:]):
            return hook_command.run_plain(sys.argv[2:])
    if sys.argv[1:2] == ["shell"]:
        from keyhole.cli import shell_command

        if shell_command.is_plain(sys.argv[2:]):
            return shell_command.run_plain(sys.argv[2:])
    _load_site()
    from keyhole.cli import main as cli

    return cli.main()


def read() -> int:
    """Run `keyhole-reader`: connect a client to the server that its user's clients share, or serve it here."""
    if len(sys.argv) == 1:
        from keyhole.serve.shared import relay

        if (code := relay.run(os.environ)) is not None:
            return code
    _load_site()
    from keyhole.cli.main import serve_main

    return serve_main()


def _load_site() -> None:
    """Add the folders of packages to Python's path, if a program of `keyhole install` started without them."""
    if sys.flags.no_site:
        import site

        site.main()


def start() -> None:
    """Run one command and end the process with its exit code."""
    code = main()
    if sys.argv[1:2] == ["hook"]:
        os._exit(code)  # the client waits for the end, and freeing all objects takes 5 ms
    sys.exit(code)


def start_reader() -> None:
    """Run `keyhole-reader` and end the process with its exit code."""
    sys.exit(read())


if __name__ == "__main__":
    start()
