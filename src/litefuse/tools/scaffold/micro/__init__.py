"""What ``litefuse export-micro`` writes: an application for microcontrollers, with tflite-micro."""
