import { parseMailbox } from '../mime/index.js'
import type { Read } from '../store/index.js'
import { versionsInUse } from './versions-in-use.js'

/** An automation that sends from a domain. */
export interface DomainUse {
  id: string
  name: string
}

/**
 * The automations that are enabled, or have live runs, and send from a domain of the account: without it their
 * runs wait at the send step until it is verified again.
 */
export async function domainUses(
  read: Read,
  accountId: string,
  domain: string,
): Promise<DomainUse[]> {
  const uses = new Map<string, DomainUse>()
  for (const { id, name, definition } of await versionsInUse(read, accountId)) {
    const sends = definition.steps.some(
      ({ type, config }) =>
        type === 'send_email' && parseMailbox(config.from)?.domain.toLowerCase() === domain,
    )
    if (sends) uses.set(id, { id, name })
  }
  return [...uses.values()]
}
