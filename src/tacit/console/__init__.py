"""Web pages that show what is remembered and why it is disclosed or withheld."""
