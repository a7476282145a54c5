"""The last passes, on lowered modules: names, states, and workarounds for XNNPACK."""
