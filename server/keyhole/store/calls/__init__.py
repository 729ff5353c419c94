"""The log of calls: which call asked for what, what it returned, and which stored texts it showed."""
