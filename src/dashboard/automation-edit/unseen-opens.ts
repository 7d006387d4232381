import type { AutomationDefinition } from '../../automations/index.js'
import { findSenderDomain } from '../../domains/index.js'
import { ApiError } from '../../errors/index.js'
import { parseMailbox } from '../../mime/index.js'
import type { Read } from '../../store/index.js'
import { findTemplate } from '../../templates/index.js'
import { hasPixel, type Switches } from '../../tracking/index.js'
import { stepTitle, type WordBook } from '../automations/words.js'
import { inQuotes } from '../shell/names.js'

/** What says whether opens are seen; `tracking` undefined: nobody out there could ask for a pixel. */
export interface UnseenDeps {
  store: { read: Read }
  tracking: Switches | undefined
}

const opensOf = /"field":"email\.([^".]+)\.opened"/g

/** A sentence for each mail whose opens the automation asks for and nobody can see. */
export async function unseenOpens(
  { store: { read }, tracking }: UnseenDeps,
  accountId: string,
  definition: AutomationDefinition,
  book: WordBook,
): Promise<string[]> {
  const asked = new Set([...JSON.stringify(definition).matchAll(opensOf)].map(([, key]) => key))
  const says: string[] = []
  for (const step of definition.steps) {
    if (step.type !== 'send_email' || !asked.has(step.key)) continue
    const { template, templateVersion, from } = step.config
    const found = await findTemplate(read, accountId, template, templateVersion).catch(orNone)
    if (found === undefined) continue
    const sender = parseMailbox(from)?.domain ?? ''
    const domain = await findSenderDomain(read, accountId, sender)
    const mail = { domainId: domain?.id ?? '', html: found.html }
    if (await hasPixel(read, mail, tracking)) continue
    const name = inQuotes(stepTitle(step, book, definition))
    says.push(
      `Opens of ${name} cannot be seen: opens are not tracked, or its mail has no picture and so few words that the picture that counts opens would make it look like spam. Whether it was opened is always “no”; ask whether they have clicked in it, or put a picture into the mail.`,
    )
  }
  return says
}

/** A template that is not there is told elsewhere. */
function orNone(error: unknown): undefined {
  if (error instanceof ApiError && error.code === 'not_found') return undefined
  throw error
}
