"""The MCP App: a view of one call, which clients that declare the extension show beside its result."""
