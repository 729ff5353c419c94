"""Read PDF files: text, positions and drawn lines from PDFium; headings, paragraphs, lists, code, notes and tables."""
