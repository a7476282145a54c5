"""The last passes, on lowered modules: names, states, what XNNPACK must be told."""
