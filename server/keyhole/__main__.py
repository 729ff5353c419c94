"""`python -m keyhole`: the command line, and nothing else."""

from keyhole.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
