"""Replay recorded runs of agents, and compute what each would have cost with other contexts."""
