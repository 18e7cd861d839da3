"""The largest number that any setting or option takes."""

LARGEST = 1_000_000_000
