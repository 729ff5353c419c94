"""Limits that servers share through their PostgreSQL store: calls of tenants, connections to hosts."""
