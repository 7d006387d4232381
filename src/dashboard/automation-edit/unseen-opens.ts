import type { AutomationDefinition, StepDefinition, StepFault } from '../../automations/index.js'
import { findSenderDomain } from '../../domains/index.js'
import { ApiError } from '../../errors/index.js'
import { parseMailbox } from '../../mime/index.js'
import type { Read } from '../../store/index.js'
import { findTemplate } from '../../templates/index.js'
import { hasPixel, type Switches } from '../../tracking/index.js'
import { shortName } from '../automations/step-names.js'
import { stepTitle, type WordBook } from '../automations/words.js'
import { inQuotes } from '../shell/names.js'

/** What says whether opens are seen; `tracking` undefined: nobody out there could ask for a pixel. */
export interface UnseenDeps {
  store: { read: Read }
  tracking: Switches | undefined
}

const opensOf = /"field":"email\.([^".]+)\.opened"/g
const anyOpened = '$email.opened'

/** The keys of the mails whose opens something asks for. */
const askedIn = (part: unknown): string[] =>
  [...(JSON.stringify(part) ?? '').matchAll(opensOf)].flatMap(([, key]) => key ?? [])

/** Whether a step goes on when any mail is opened, whichever it is. */
const hearsOpens = ({ type, config }: StepDefinition) =>
  (type === 'wait_for_event' || type === 'trigger') && config.eventName === anyOpened

type SendStep = Extract<StepDefinition, { type: 'send_email' }>

/** Those of some mails whose opens nobody can see. */
async function unseenAmong(
  { store: { read }, tracking }: UnseenDeps,
  accountId: string,
  steps: readonly SendStep[],
): Promise<SendStep[]> {
  const unseen: SendStep[] = []
  for (const step of steps) {
    const { template, templateVersion, from } = step.config
    const found = await findTemplate(read, accountId, template, templateVersion).catch(orNone)
    if (found === undefined) continue
    const sender = parseMailbox(from)?.domain ?? ''
    const domain = await findSenderDomain(read, accountId, sender)
    const mail = { domainId: domain?.id ?? '', html: found.html }
    if (!(await hasPixel(read, mail, tracking))) unseen.push(step)
  }
  return unseen
}

const sendsIn = ({ steps }: Definition): SendStep[] =>
  steps.flatMap((step) => (step.type === 'send_email' ? [step] : []))

type Definition = Pick<AutomationDefinition, 'steps' | 'settings'>

const why =
  'opens are not tracked, or it has no picture and so few words that the picture that counts opens would make it look like spam'
const instead = 'Ask whether they have clicked in it, or put a picture into the mail'

/** A sentence for each mail whose opens the automation asks for and nobody can see. */
export async function unseenOpens(
  deps: UnseenDeps,
  accountId: string,
  definition: AutomationDefinition,
  book: WordBook,
): Promise<string[]> {
  const asked = new Set(askedIn(definition))
  const sends = sendsIn(definition).filter(({ key }) => asked.has(key))
  const unseen = await unseenAmong(deps, accountId, sends)
  const ofAny = await unheardOpens(deps, accountId, definition)
  return [
    ...unseen.map(
      (step) =>
        `Opens of ${inQuotes(stepTitle(step, book, definition))} cannot be seen: ${why}. Whether it was opened is always “no”. ${instead}.`,
    ),
    ...ofAny.map(({ error }) => error),
  ]
}

/** The same at the steps that ask for it, for the editor; without a key where the goal or an exit of all steps asks. */
export async function unseenAsked(
  deps: UnseenDeps,
  accountId: string,
  definition: Definition,
): Promise<StepFault[]> {
  const asking: { key: string | null; mails: Set<string> }[] = [
    ...definition.steps.map(({ key, config }) => ({ key, mails: new Set(askedIn(config)) })),
    { key: null, mails: new Set(askedIn(definition.settings)) },
  ]
  const asked = new Set(asking.flatMap(({ mails }) => [...mails]))
  const sends = sendsIn(definition).filter(({ key }) => asked.has(key))
  const unseen = await unseenAmong(deps, accountId, sends)
  const told = asking.flatMap(({ key, mails }) =>
    unseen
      .filter((step) => mails.has(step.key))
      .map((step) => ({
        key,
        error: `Nobody can see whether ${inQuotes(shortName(step.key, definition.steps))} was opened: ${why}. So this is always “no”. ${instead}.`,
      })),
  )
  return [...told, ...(await unheardOpens(deps, accountId, definition))]
}

/** Waits for any mail to be opened, where no mail of the automation can be seen to be. */
async function unheardOpens(
  deps: UnseenDeps,
  accountId: string,
  definition: Definition,
): Promise<StepFault[]> {
  const hearing = definition.steps.filter(hearsOpens)
  const sends = sendsIn(definition)
  if (hearing.length === 0 || sends.length === 0) return []
  for (const step of sends) {
    if ((await unseenAmong(deps, accountId, [step])).length === 0) return []
  }
  return hearing.map(({ key }) => ({
    key,
    error: `Opens of its mails cannot be seen: opens are not tracked, or the mails have no picture and too few words. So it goes on only when they open another mail of yours. Wait until they click, or put a picture into the mails.`,
  }))
}

/** A template that is not there is told elsewhere. */
function orNone(error: unknown): undefined {
  if (error instanceof ApiError && error.code === 'not_found') return undefined
  throw error
}
