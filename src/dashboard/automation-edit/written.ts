import {
  type Automation,
  findAutomation,
  outlineOf,
  readWritten,
  type StepDefinition,
  type StepFault,
  soundStep,
  stepsInOrder,
} from '../../automations/index.js'
import { verifiedDomains } from '../../domains/index.js'
import { ApiError } from '../../errors/index.js'
import type { Read } from '../../store/index.js'
import { sendersOf, usualSender } from '../campaigns/senders.js'
import type { Visit } from '../shell/visit.js'
import { placeOf } from './deeds.js'
import type { AutomationEditDeps } from './deps.js'
import { type TypedAutomation, typedIn } from './typed.js'

/** The account's automation, which can be written: throws a 409 for one that is archived. */
export async function writable(
  read: Read,
  { account, params }: Pick<Visit, 'account' | 'params'>,
): Promise<Automation> {
  const found = await findAutomation(read, account.id, params.id ?? '')
  if (found.status !== 'archived') return found
  throw new ApiError(
    'conflict',
    'This automation is archived and can no longer be changed; duplicate it',
  )
}

/** What is in the form, or what is kept of the automation. */
export async function typedOrKept(
  { store: { read } }: AutomationEditDeps,
  { account, fields, query }: Pick<Visit, 'account' | 'fields' | 'query'>,
  automation: Automation,
): Promise<TypedAutomation & { revision: string; isDraft: boolean }> {
  const kept = await keptOf(read, automation)
  const typed = typedIn(
    fields,
    await senderOf(read, automation, { account, steps: stepsInOrder(kept.outline) }),
  )
  if (typed === undefined) return { ...kept, open: query.get('open') ?? '' }
  const revision = fields.get('over') ? kept.revision : (fields.get('revision') ?? '')
  return { ...typed, revision, isDraft: kept.isDraft }
}

/** What is kept of the automation, as the editor has it. */
export async function keptOf(
  read: Read,
  automation: Automation,
): Promise<TypedAutomation & { revision: string; isDraft: boolean }> {
  const { name, definition, revision, isDraft } = await readWritten(read, automation)
  const { connections, settings } = definition
  const outline = outlineOf({ steps: stepsKept(definition.steps), connections })
  return { name, outline, settings, open: '', revision, isDraft }
}

const stepsKept = (steps: readonly StepDefinition[]): StepDefinition[] =>
  steps.flatMap((step) => soundStep(step) ?? [])

/** What a new mail is from: what the others are from, else what was said when it was begun, else what campaigns are. */
async function senderOf(
  read: Read,
  { usual_from }: Automation,
  { account, steps }: { account: { id: string; name: string }; steps: readonly StepDefinition[] },
): Promise<string> {
  for (const { type, config } of steps) if (type === 'send_email') return config.from
  return usual_from ?? (await senderOfNew(read, account))
}

/** From whom the mails of an automation are that has none yet: as a new campaign is. */
export const senderOfNew = async (
  read: Read,
  account: { id: string; name: string },
): Promise<string> =>
  await usualSender(
    read,
    account.id,
    await sendersOf(read, account, await verifiedDomains(read, account.id)),
  )

/**
 * Where a fault is to be mended: the editor with the card of the first one open, at its top. That which is open stays so, if
 * something is wrong with it.
 */
export function mendPath(
  here: string,
  { outline, open = '' }: Pick<TypedAutomation, 'outline'> & { open?: string },
  faults: readonly StepFault[],
): string {
  const wrong = new Set(faults.map(({ key }) => key))
  const places = stepsInOrder(outline)
    .filter(({ key }) => wrong.has(key))
    .flatMap(({ key }) => placeOf(outline, key) ?? [])
  const place = places.includes(open) ? open : places[0]
  if (place !== undefined) return `${here}/edit?open=${place}#open`
  const isOfAll = faults.some(({ key, is }) => key === null && is?.place[0] === 'settings')
  return isOfAll ? `${here}/edit?open=settings#whole` : `${here}/edit`
}
