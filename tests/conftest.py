"""For all tests: what they compile stays out of the user's disk cache; test_disk_cache.py has folders of its own."""
import os

os.environ["CUJIT_CACHE"] = "0"
