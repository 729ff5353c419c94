"""Serve MCP clients over stdio and streamable HTTP."""
