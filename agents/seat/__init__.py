"""Scriptorium as one learner plays it: the other seats are held by agents."""
