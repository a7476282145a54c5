"""Random graphs: ops in orders that nobody thought of, with control flow and variables among them.

``graph.py`` holds one while it is made; ``elements.py``, ``movements.py``, ``selections.py``, ``networks.py`` and
``control_flow.py`` have the steps it is made of; ``models.py`` makes models of them, and ``__main__.py`` looks for
graphs that fail::

    python -m tests.tensorflow.random_graphs 1000 500    # the graphs 1000 to 1499
    python -m tests.tensorflow.random_graphs 1000 500 --gradients
"""
