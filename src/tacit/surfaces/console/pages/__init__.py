"""A file for each page, with what is done on it."""
