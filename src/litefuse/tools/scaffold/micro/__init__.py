"""The application for microcontrollers that ``litefuse export-micro`` writes, with tflite-micro."""
