"""What a person at a terminal sees: help, plots, completion, settings. No retrieval here."""
