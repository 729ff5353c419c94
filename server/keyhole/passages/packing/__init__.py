"""Pack passages into a limited size: of one text, of many texts, and without what the reader was shown before."""
