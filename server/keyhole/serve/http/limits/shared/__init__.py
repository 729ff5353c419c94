"""Limits that servers with one PostgreSQL store share: calls of tenants, connections to hosts."""
