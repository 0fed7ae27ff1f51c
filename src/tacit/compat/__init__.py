"""The words of other memories, on this one: on the public API only, as the surfaces are."""
