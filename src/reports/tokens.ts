import type { Message } from './message.js'

// The form that deliveries/return-path.ts signs; relays fold its case, nobody changes its length.
const token = /(?<![a-z0-9])b[a-z][a-z2-7]{29}@[a-z0-9.-]{1,253}/gi
const maxTokens = 20

/** What looks like one of our return paths, in the order in which the mail has it. */
export function tokensIn({ source, text, parts }: Message): string[] {
  const found = new Set<string>()
  for (const place of [source, text, ...parts.map(({ body }) => body)]) {
    for (const [address] of place.matchAll(token)) {
      if (found.size === maxTokens) return [...found]
      found.add(address.toLowerCase().replace(/[.-]+$/, ''))
    }
  }
  return [...found]
}
