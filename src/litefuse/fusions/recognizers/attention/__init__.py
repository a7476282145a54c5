"""Recognizes attention: a softmax between a product of queries and keys and one with values.

``axes`` reads products and follows their axes through reshapes, ``scores`` reads what is done to the products before
the softmax, ``reading`` knows its spellings and puts these together, ``roles`` says which axis is what, and
``composite`` brings all into the form of LiteRT's contract.
"""
