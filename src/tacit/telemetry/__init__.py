"""How much is done, how long it takes and what fails, in numbers under fixed words."""
