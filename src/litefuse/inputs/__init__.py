"""Inputs drawn from a LiteRT model: its graph says which values have a meaning there.

``model_inputs``  what the signatures of a model take, and calls of them; the way in
``graph``         the graphs of a model, as far as that is asked for
``flow``          how values flow through them; ``rules``, ``arithmetic`` and ``custom_rules`` are those of the ops
``uses``          what is found
``tables``        what its tables hold, for another model
``movement``      how far outputs move with them
``drawer``        draws values; ``texts`` strings, ``deck`` rows of tables and words, ``numbers`` arrays
"""
