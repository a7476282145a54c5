"""Draws inputs for a LiteRT model; its graph says which values are meaningful there.

``model_inputs``  the inputs of a model's signatures, and calls of them; the entry point
``flow``          how values flow through them; ``rules``, and those that it lists, have a rule for each op
``uses``          the uses that are found
``kinds``         the kinds of numbers that show whether another model computes the same
``drawer``        draws values; ``texts`` strings, ``random_values`` arrays, and rows of tables and words
"""
