"""Variables of integers: what they hold from call to call has one scale, for all that read and write it."""
