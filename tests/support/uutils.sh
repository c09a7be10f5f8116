#!/bin/sh
# A shell whose tools are those of uutils, as Debian 13 has them, or the release that TOOLS_OF names. They are fetched
# when they are not there.
project=$(dirname "$0")/../..
release=${TOOLS_OF:-trixie}
tools=$project/target/other-tools/$release
[ -x "$tools/bin/stat" ] || "$project/scripts/other-tools.sh" "$release" "$tools" || exit
PATH=$tools/bin:$PATH exec sh "$@"
