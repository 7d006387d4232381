#!/bin/sh
# The `posthorn` command of a release: it runs with the release's own Node and needs none on the machine.
# Found through links, so that /usr/bin/posthorn may be one. What is switched meanwhile does not matter:
# from here on everything comes from one version's folder.
self=$(PATH=/usr/bin:/bin readlink -f -- "$0") || exit 1
top=${self%/bin/posthorn}
# What lives in the main thread's heap is 30 MB; without limits V8 lets it grow to 140 before it collects (src/app/thread-heap.ts).
# glibc's malloc would give each of 15 threads regions of its own, from which little comes back when it is freed.
export MALLOC_ARENA_MAX=2
# Without these it raises its bounds for good to twice the largest piece that was ever freed, and what a burst took stays.
export MALLOC_MMAP_THRESHOLD_=131072 MALLOC_TRIM_THRESHOLD_=1048576
exec "$top/runtime/node" --max-semi-space-size=8 --max-old-space-size=1536 --v8-pool-size=0 "$top/dist/packed/cli/main.js" "$@"
