"""Compare gateways that bound the results of MCP servers, on recorded results and questions about them."""
