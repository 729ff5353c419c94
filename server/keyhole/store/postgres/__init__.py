"""Artifact store in PostgreSQL, shared by several servers."""
