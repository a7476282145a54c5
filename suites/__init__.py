"""Suites of real models and of other converters' tests, run against litefuse and the stock converter."""
