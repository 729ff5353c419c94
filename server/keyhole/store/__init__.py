"""Artifact stores: the Store protocol (base.py) and its implementations in memory, SQLite and PostgreSQL."""
