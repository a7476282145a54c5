"""Draws inputs for a LiteRT model; its graph says which values are meaningful there.

``model_inputs``  the inputs of a model's signatures, and calls of them; the entry point
``graph``         the graphs of a model, as far as they are needed here
``flow``          how values flow through them; ``rules``, ``arithmetic`` and ``custom_rules`` have a rule for each op
``uses``          the uses that are found
``tables``        the contents of its tables, for another model
``movement``      how far outputs move with the inputs
``kinds``         the kinds of numbers that show whether another model computes the same
``drawer``        draws values; ``texts`` strings, ``deck`` rows of tables and words, ``numbers`` arrays
"""
