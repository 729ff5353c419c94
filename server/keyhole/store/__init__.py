"""Artifacts kept. base.py is the contract; memory.py and sqlite.py keep it."""
