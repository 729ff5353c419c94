"""Artifact store in SQLite, on this machine."""
