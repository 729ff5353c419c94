"""Any output: the text of a command, a file or another tool, within a budget."""
