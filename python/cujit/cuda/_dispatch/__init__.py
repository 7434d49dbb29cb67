"""What a dispatcher is made of: options, signatures, launchers, inspection."""
