"""Extensions: each imports the core and no other extension, and the core imports none of them."""
