"""Answer the hooks of clients: bound what their shell, file and search tools and other MCP servers return.

A client runs `keyhole hook CLIENT` after each tool call, so this package imports little, and only when it is needed.
"""
