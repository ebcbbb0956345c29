"""`python -m leastaction`."""

from ._command import main

main()
