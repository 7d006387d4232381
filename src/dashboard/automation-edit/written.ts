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

/** The account's automation, for writing: throws a 409 for an archived one. */
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

/** What is in the form, or what is saved of the automation. */
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

/** What is saved of the automation, in the editor's form. */
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

/** The sender of a new mail: that of the other mails, else the one chosen at the beginning, else that of campaigns. */
async function senderOf(
  read: Read,
  { usual_from }: Automation,
  { account, steps }: { account: { id: string; name: string }; steps: readonly StepDefinition[] },
): Promise<string> {
  for (const { type, config } of steps) if (type === 'send_email') return config.from
  return usual_from ?? (await senderOfNew(read, account))
}

/** The sender of an automation's mails where it has none yet: that of a new campaign. */
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
 * Where a fault is mended: the editor, with the card of the first fault open, at its top. The open card stays open if
 * it has a fault.
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
