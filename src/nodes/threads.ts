/** More threads than a node may have of a kind. */
const mostThreads = 64

/**
 * The numbers under which a node's outbound threads keep what they learn; the first node has those of a single
 * appliance.
 */
export const threadsOf = ({ number }: { number: number }) => ({
  first: (number - 1) * mostThreads,
  end: number * mostThreads,
})
