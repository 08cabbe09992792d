#!/bin/sh
# ccache for the build. While a precompiled header is made anew, the preprocessor would read the old one in its place, and
# ccache would find what it made then; so the old one goes first. Each file that reads a precompiled header depends on its bytes:
# their sum is made once, beside it, or ccache would read half a gigabyte for each file.
header= before=
for argument; do
  case "$before $argument" in
    '-o '*.gch | '-o '*.pch) header=$argument; rm -f -- "$header" "$header.sum" ;;
  esac
  before=$argument
done
export CCACHE_PCH_EXTSUM=1
[ -n "$header" ] || exec ccache "$@"
ccache "$@" && b2sum < "$header" > "$header.sum"
