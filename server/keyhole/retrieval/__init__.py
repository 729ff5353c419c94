"""The three tools: from arguments to an answer. `retrieve.py` shows the order of the stages."""
