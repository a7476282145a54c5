"""The order of the steps from an imported model to one that can be exported; each list of passes is written once, here.

A conversion runs all of them, ``inspect`` the first ones, the self-check the others for one function, and the
rewriting of an op that the engine leaves runs those around the engine.
"""
