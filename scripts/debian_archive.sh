#!/bin/sh
# Prints where apt of this machine has Debian from. Fails where it has none.
archive=$(apt-get indextargets --format '$(REPO_URI) $(LABEL) $(CREATED_BY)' | sed -n 's/ Debian Packages$//p' | head -n 1)
[ -n "$archive" ] || { echo "apt of this machine knows no archive of Debian" >&2; exit 1; }
echo "${archive%/}"
