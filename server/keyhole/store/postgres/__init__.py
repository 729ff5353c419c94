"""Artifacts in PostgreSQL."""
