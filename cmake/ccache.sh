#!/bin/sh
# ccache for the build. While a precompiled header is made anew, the preprocessor would read the old one in its place, and
# ccache would find what it made then; so the old one goes first.
for argument; do
  case $argument in
    *.gch) rm -f -- "$argument" ;;
  esac
done
exec ccache "$@"
