"""`tacit serve`: the one process, or several, that answer REST and MCP requests."""
