"""Scriptorium: rules as functions over batched states, with no learning API in sight."""
