"""The view of a stored text: passages that a call showed, the words of its query, and the scores along the text."""
