"""Models in Model Explorer: numbers on its nodes, and its server.

``nodes``      the ids that Model Explorer gives the ops of a file
``node_data``  bytes, time and error of each op, as files of node data
``viewer``     starts the server with a model and node data
``serving``    the process that it runs in
"""
