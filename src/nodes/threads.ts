/** More threads than a node may have of a kind. */
const mostThreads = 64

/**
 * By which numbers a node's outbound threads keep what they learn: those of the first node are those of an appliance that
 * is alone.
 */
export const threadsOf = ({ number }: { number: number }) => ({
  first: (number - 1) * mostThreads,
  end: number * mostThreads,
})
