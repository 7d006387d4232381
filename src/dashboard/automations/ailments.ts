import type { AutomationDefinition } from '../../automations/index.js'
import { verifiedDomains } from '../../domains/index.js'
import { parseMailbox } from '../../mime/index.js'
import type { Read } from '../../store/index.js'
import { deletedStart, type WordBook } from './words.js'

/** What keeps an active automation from doing its work, as its state says after “On”; undefined: nothing known. */
export type AilmentOf = (definition: AutomationDefinition) => string | undefined

/** Looks for ailments by what the account has now. */
export async function ailmentsNow(
  read: Read,
  accountId: string,
  book: WordBook,
): Promise<AilmentOf> {
  const verified = new Set(await verifiedDomains(read, accountId))
  return (definition) => {
    const start = startAilment(definition, book)
    if (start !== undefined) return start
    const senders = definition.steps.flatMap(({ type, config }) =>
      type === 'send_email' ? (parseMailbox(config.from)?.domain ?? []) : [],
    )
    const lacking = senders.find((domain) => !verified.has(domain))
    return lacking === undefined ? undefined : `but ${lacking} is not verified`
  }
}

/** Looks only at what begins the automation. */
export function startAilment(definition: AutomationDefinition, book: WordBook): string | undefined {
  const gone = deletedStart(definition, book)
  return gone === undefined ? undefined : `cannot begin: its ${gone} is deleted`
}
