"""What can be reached at most, beside what is reached: the command ``bound``."""
