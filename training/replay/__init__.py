"""Replays: recorded while agents play, shown in the terminal and on a page."""
