#!/bin/sh
# The `posthorn` command of a release: it runs with the release's own Node and needs none on the machine.
# Found through links, so that /usr/bin/posthorn may be one. What is switched meanwhile does not matter:
# from here on everything comes from one version's folder.
self=$(PATH=/usr/bin:/bin readlink -f -- "$0") || exit 1
top=${self%/bin/posthorn}
exec "$top/runtime/node" "$top/dist/packed/cli/main.js" "$@"
