"""The command line: commands, help, plots and completion."""
