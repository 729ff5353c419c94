"""Entry point of the bundle: run Keyhole over stdio from the folder beside this file."""

from keyhole.__main__ import read

if __name__ == "__main__":
    raise SystemExit(read())
