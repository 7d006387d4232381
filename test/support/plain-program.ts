/**
 * Put before a program that has no extension in its name, e.g. bin/posthorn: what tap preloads into every
 * child by NODE_OPTIONS, also when the parent gives another environment, cannot load such a main module.
 */
export const plainly = ['/usr/bin/env', '-u', 'NODE_OPTIONS'] as const
