"""What one session was shown already, in bounded memory. Words nothing and asks nobody."""

from __future__ import annotations


class Ledger:
    """The passages that the calls of one session were shown, and how much all of them took."""
