"""Record the results of real MCP servers."""
