"""Hosts by name, and the one of which nothing is known."""

# Where a result measured elsewhere was measured, when nobody knows. Two runs of it are not known
# to be of one machine.
UNKNOWN_HOST = "unknown"
