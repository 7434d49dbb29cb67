"""What device arrays are made of: layouts, views, host arrays beside them, DLPack."""
