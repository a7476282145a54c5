"""A model and what became of it, as one HTML file.

``content``      what a page shows
``graph``        graphs of either side: nodes, what they read and call
``original``     the graphs of a TensorFlow model
``converted``    the graphs of a LiteRT file
``links``        which nodes of the original each op of the file computes
``folding``      a graph as views of layers, each of which opens
``layout``       places of boxes and ways of edges
``treemap``      areas by bytes
``tables``       what can be read without a script
``document``     the HTML, with ``page.css`` and the scripts ``nodes.js``, ``pane.js`` and ``page.js``
``saving``       reads the models, and writes the page
"""
