"""Relay the messages of a client to other MCP servers and bound the results that those return."""
