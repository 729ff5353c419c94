"""Web search: engines behind one port (base.py), asked together (panel.py) and merged into one list (merge.py)."""
