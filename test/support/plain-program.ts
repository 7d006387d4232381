/**
 * To be put before a program without an extension in its name, e.g. bin/posthorn: tap preloads code into every child
 * by NODE_OPTIONS, also when the parent gives another environment, and that code cannot load such a main module.
 */
export const plainly = ['/usr/bin/env', '-u', 'NODE_OPTIONS'] as const
