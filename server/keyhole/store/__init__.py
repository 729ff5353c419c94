"""Artifacts kept. base.py is the contract; memory.py and sqlite.py, with the rooms named after it, keep it."""
