"""The integer and hybrid forms of LiteRT's LSTM op, which litert-quantizer leaves in floating point."""
