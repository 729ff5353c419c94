"""Readers of formats other than HTML."""
