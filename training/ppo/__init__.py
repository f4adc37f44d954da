"""Masked PPO on the native vector environments; the only package that imports torch."""
