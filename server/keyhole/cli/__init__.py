"""The command line: commands, help and completion."""
