"""Code in numba's subset: what is written once runs compiled where numba is installed."""
