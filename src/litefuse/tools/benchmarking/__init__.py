"""Measures LiteRT models: how long calls take, and which ops, layers and kernels take the time.

``benchmark``           what ``litefuse.benchmark`` does
``subject``             a model that is measured: starts the processes, and puts together what they find
``measurement``         the result, as data
``benchmark_sections``  the result as a report

The processes of a model, each of which answers one question:

``jobs``             the questions and answers
``opened_model``     the model, its kernels and the inputs of its calls
``calls``            how long loading and calls take, and how long calls of two models in turn
``node_calls``       how long each node takes that the runtime runs
``operators_alone``  which operators XNNPACK makes of each op

How they find that out:

``nodes``              the nodes of a loaded model, and which ops of the file each of them stands for
``node_times``         a clock around the function that the runtime calls for a node
``clocks``             that clock: in C++, or in Python
``operator_profiler``  a profiler that XNNPACK tells the times of its operators

What becomes of it:

``file_ops``   the ops of the file: their kinds, names and layers
``operators``  which of XNNPACK's operators belongs to which op
``op_times``   the times of the ops, and the partitions of delegates
"""
