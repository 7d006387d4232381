import {
  type AutomationDefinition,
  type MailDeed,
  type StepDefinition,
  type StepFault,
  type UnseenDeed,
  type UnseenDeps,
  unseenAmong,
} from '../../automations/index.js'
import type { WhyUnseen } from '../../tracking/index.js'
import { shortName } from '../automations/step-names.js'
import { stepTitle, type WordBook } from '../automations/words.js'
import { inQuotes } from '../shell/names.js'
import {
  type AskingDefinition,
  type SendingStep,
  sendsIn,
  unseenEverywhere,
} from './unseen-mails.js'

const deeds = ['opened', 'clicked'] as const
const whatOf = { opened: 'opens', clicked: 'clicks' } as const
const anyMail = { opened: '$email.opened', clicked: '$email.clicked' } as const

/** Why it is not seen, as the rest of a sentence. */
function causeOf(why: WhyUnseen, deed: MailDeed, domain: string): string {
  const what = whatOf[deed]
  switch (why) {
    case 'unreachable':
      return `this server has no public address by which ${what} could be counted`
    case 'domain':
      return `counting ${what} is off for the domain ${domain}`
    case 'account':
      return `counting ${what} is off in the settings of this account`
    case 'settings':
      return `this server counts no ${what} unless the settings of the account, or its domain, say so`
    case 'transactional':
      return `the mail is something they must know, and ${what} of such mail are counted only where the settings of the account, or its domain, say “On”`
    case 'light':
      return `the mail has no picture and so few words that the picture that counts ${what} would make it look like spam`
  }
}

/** What to do about it, as a sentence. */
function cureOf(why: WhyUnseen, deed: MailDeed, seesClicks: boolean): string {
  const cures: Readonly<Record<WhyUnseen, string>> = {
    unreachable: 'Ask the operator of this server for one',
    domain: 'Turn it on at the page of that domain',
    account: 'Turn it on in “Settings”',
    settings: 'Turn it on in “Settings”',
    transactional: 'Turn it on in “Settings”',
    light: 'Put a picture into the mail',
  }
  const cure = cures[why]
  const isOther = deed === 'opened' && seesClicks
  return isOther ? `${cure}, or ask whether they have clicked in it.` : `${cure}.`
}

/** The mails about whose opens or clicks something asks, by their keys. */
function askedIn(part: unknown): { key: string; deed: MailDeed }[] {
  const text = JSON.stringify(part) ?? ''
  return deeds.flatMap((deed) => {
    const fields = new RegExp(`"field":"email\\.([^".]+)\\.${deed}"`, 'g')
    const keys = new Set([...text.matchAll(fields)].flatMap(([, key]) => key ?? []))
    return [...keys].map((key) => ({ key, deed }))
  })
}

/** A sentence for each mail whose opens or clicks the automation asks for and nobody can see. */
export async function unseenWords(
  deps: UnseenDeps,
  accountId: string,
  definition: AutomationDefinition,
  book: WordBook,
): Promise<string[]> {
  const asked = askedIn(definition)
  const unseen = await unseenAmong(deps, accountId, sendsOf(definition, asked))
  const told = asked.flatMap(({ key, deed }) => {
    const step = definition.steps.find((one) => one.key === key)
    const mail = unseen.get(key)
    const why = mail?.[deed]
    if (step === undefined || mail === undefined || why === undefined) return []
    return `${subjectOf(inQuotes(stepTitle(step, book, definition)), deed)} cannot be seen: ${causeOf(why, deed, mail.domain)}. ${countsAs(deed)} ${cureOf(why, deed, mail.clicked === undefined)}`
  })
  return [...told, ...(await unheard(deps, accountId, definition)).map(({ error }) => error)]
}

/**
 * The same sentences at the asking steps, for the editor; without a key where the goal or an exit of all steps asks.
 */
export async function unseenAsked(
  deps: UnseenDeps,
  accountId: string,
  definition: AskingDefinition,
): Promise<StepFault[]> {
  const asking = [
    ...definition.steps.map(({ key, config }) => ({ key, asked: askedIn(config) })),
    { key: null, asked: askedIn(definition.settings) },
  ]
  const all = asking.flatMap(({ asked }) => asked)
  const unseen = await unseenAmong(deps, accountId, sendsOf(definition, all))
  const told = asking.flatMap(({ key, asked }) =>
    asked.flatMap(({ key: of, deed }): StepFault[] => {
      const mail = unseen.get(of)
      const why = mail?.[deed]
      if (mail === undefined || why === undefined) return []
      const name = inQuotes(shortName(of, definition.steps))
      const was = deed === 'opened' ? 'was opened' : 'was clicked in'
      const error = `Nobody can see whether ${name} ${was}: ${causeOf(why, deed, mail.domain)}. ${countsAs(deed)} ${cureOf(why, deed, mail.clicked === undefined)}`
      return [{ key, error }]
    }),
  )
  return [...told, ...(await unheard(deps, accountId, definition))]
}

/** What somebody does in a trial without anybody seeing it, a sentence each. */
export const unseenInTrial = (
  unseen: readonly UnseenDeed[],
  called: (key: string) => string,
): string[] =>
  unseen.map(({ step, deed, why, domain, seesClicks }) => {
    const does = deed === 'opened' ? 'open' : 'click in'
    return `They ${does} ${inQuotes(called(step))}, but nobody sees it: ${causeOf(why, deed, domain)}. ${cureOf(why, deed, seesClicks)}`
  })

const subjectOf = (name: string, deed: MailDeed) =>
  deed === 'opened' ? `Opens of ${name}` : `Clicks in ${name}`

const countsAs = (deed: MailDeed) =>
  `So ${deed === 'opened' ? '“was opened”' : '“was clicked in”'} is “no” for everybody.`

function sendsOf(definition: AskingDefinition, asked: readonly { key: string }[]): SendingStep[] {
  const keys = new Set(asked.map(({ key }) => key))
  return sendsIn(definition).filter(({ key }) => keys.has(key))
}

/** Steps that go on, or begin, when any mail is opened or clicked in, where nobody can see that. */
async function unheard(
  deps: UnseenDeps,
  accountId: string,
  definition: AskingDefinition,
): Promise<StepFault[]> {
  const told: StepFault[] = []
  for (const deed of deeds) {
    const hearing = definition.steps.filter((step) => hears(step, anyMail[deed]))
    if (hearing.length === 0) continue
    const anywhere = await unseenEverywhere(deps, accountId, deed)
    if (anywhere !== undefined) {
      const error = `Nobody can see any ${whatOf[deed]}: ${causeOf(anywhere.why, deed, anywhere.domain)}. So it never comes.`
      told.push(...hearing.map(({ key }) => ({ key, error })))
      continue
    }
    const waits = hearing.filter(({ type }) => type === 'wait_for_event')
    const why = waits.length === 0 ? undefined : await unseenOwn(deps, accountId, definition, deed)
    if (why === undefined) continue
    const error = `${whatOf[deed] === 'opens' ? 'Opens of' : 'Clicks in'} its mails cannot be seen: ${why}. So it goes on only with another mail of yours.`
    told.push(...waits.map(({ key }) => ({ key, error })))
  }
  return told
}

const hears = ({ type, config }: StepDefinition, name: string) =>
  (type === 'wait_for_event' || type === 'trigger') && config.eventName === name

/**
 * Why opens or clicks of none of an automation's own mails can be seen; undefined where one can, or there is no mail.
 */
async function unseenOwn(
  deps: UnseenDeps,
  accountId: string,
  definition: AskingDefinition,
  deed: MailDeed,
): Promise<string | undefined> {
  const causes = new Set<string>()
  for (const step of sendsIn(definition)) {
    const mail = (await unseenAmong(deps, accountId, [step])).get(step.key)
    const why = mail?.[deed]
    if (mail === undefined || why === undefined) return undefined
    causes.add(causeOf(why, deed, mail.domain))
  }
  return causes.size === 0 ? undefined : [...causes].join('; ')
}
