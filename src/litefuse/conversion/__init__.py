"""A conversion: the order of its passes, its processes, quantization, and the checks of what comes out.

``api``                 ``litefuse.convert`` and ``litefuse.quantize``
``conversion_process``  starts the process that converts, and checks the file
``run``                 what a conversion does in that process
``job``                 what it is asked
``generating``          how it gets kernels
``quantization_step``   how files are quantized
``model_file``          writes a lowered module as a file
``summary``             counts a module's operators
"""
