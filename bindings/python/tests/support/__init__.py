"""What tests of the package share: the fake CLI, event loops, and what has to be so after each test."""
