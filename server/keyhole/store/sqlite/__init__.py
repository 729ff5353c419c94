"""Artifacts in SQLite and files on this machine."""
