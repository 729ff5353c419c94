"""Sharing of limited resources among the callers of one server."""
