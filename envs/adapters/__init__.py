"""Adapters from the engines to the APIs that learners use; import the one you need."""
