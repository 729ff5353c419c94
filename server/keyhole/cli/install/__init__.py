"""`keyhole install`: registers Keyhole in the configuration files of MCP clients."""
