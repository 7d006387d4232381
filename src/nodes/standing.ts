import type { OwnNode } from '../store/index.js'

// Others take over after 10 seconds: work that begins now has to end before, or it does not count.
const heldUpMs = 6_000

/**
 * Whether the server has acknowledged no sign of life for so long that others may soon take this appliance for dead;
 * then it begins nothing. Measured by the machine's monotonic time, not by its clock.
 */
export const isHeldUp = (node: Pick<OwnNode, 'silentMs'>): boolean => node.silentMs() > heldUpMs
