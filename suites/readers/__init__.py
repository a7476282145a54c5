"""What becomes of litefuse's files in other people's software that reads them."""
