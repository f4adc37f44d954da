"""Paired evaluation on published seed lists."""
