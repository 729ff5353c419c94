"""Web search: query several engines at once (panel.py) and merge their hits into one list (merge.py)."""
