const words = 'Kept in the sandbox as '

/** What the inbox answers to the final dot: the number of the message. */
export const keptReply = (id: number): string => `${words}${id}`

/** The number of the message in that answer, as a delivery's log has it; undefined for another server's answer. */
export function keptNumber(reply: string): number | undefined {
  const at = reply.indexOf(words)
  const number = at < 0 ? Number.NaN : Number.parseInt(reply.slice(at + words.length), 10)
  return Number.isNaN(number) ? undefined : number
}
