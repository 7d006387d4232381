import type { OwnNode } from '../store/index.js'

// Others take over at 10 seconds: what begins now has to be over by then, or to count for nothing.
const heldUpMs = 6_000

/**
 * Whether the server has acknowledged no sign of life for so long that others may soon take this appliance for dead: then
 * it begins nothing. By the machine's own time, whatever its clock says.
 */
export const isHeldUp = (node: Pick<OwnNode, 'silentMs'>): boolean => node.silentMs() > heldUpMs
