"""Does the host's part of a case of ``tests/vectors`` with the Python package.

``towline_testkit::cases`` says what such a program gets and what it writes; ``../README.md`` says how to run it.
"""
