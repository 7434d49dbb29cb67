"""vectorize and guvectorize: functions over whole arrays, their operands, and the loops around them."""
