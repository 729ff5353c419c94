"""Artifacts kept. base.py is the contract; memory.py, sqlite.py and postgres.py keep it."""
