"""Exact rewritings of TensorFlow ops that LiteRT lacks or the engine lowers wrongly, and custom ops for the rest."""
