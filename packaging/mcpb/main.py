"""Entry point of the bundle: run Keyhole over stdio from the folder beside this file."""

from keyhole.cli.main import serve_main

if __name__ == "__main__":
    raise SystemExit(serve_main())
