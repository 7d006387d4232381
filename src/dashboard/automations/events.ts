import { optional, string, type } from 'superstruct'
import * as operations from '../../automations/contract.js'
import { acceptEvents, type Hearer, hearersOf, seenEvents } from '../../automations/index.js'
import { readBilling } from '../../billing/index.js'
import { checked } from '../../contract/index.js'
import { ApiError } from '../../errors/index.js'
import { listEventNames, namesAmong } from '../../events/index.js'
import { eventWords } from '../event-words.js'
import { type Moment, moment, plural } from '../format.js'
import { namesOf } from '../segments/names.js'
import { type PageAnswer, page, redirect } from '../shell/answer.js'
import { type Faults, noFaults } from '../shell/faults.js'
import { type BesidePages, listOf } from '../shell/listing.js'
import { inQuotes } from '../shell/names.js'
import type { AccountPages } from '../shell/page.js'
import type { Visit } from '../shell/visit.js'
import type { AutomationPageDeps } from './deps.js'
import { eventFields, ownFieldWords, sampleWords } from './event-fields.js'
import { refusalWords } from './run-words.js'

interface EventsView extends BesidePages {
  base: string
  mayWrite: boolean
  events: {
    name: string
    /** What an event of the appliance means, in words. */
    says: string | undefined
    count: string
    last: Moment
    sample: string | undefined
    /** The payload in words, for an event of the appliance. */
    sampleSays: string | undefined
    heardBy: HearerView[]
    isOwn: boolean
  }[]
  /** Events that automations hear and that never came: often a misspelt name. */
  missing: { name: string; heardBy: HearerView[] }[]
  /** Names of events that came, for a test event. */
  names: string[]
  faults: Faults
}

interface HearerView {
  page: string
  says: string
}

const perPage = 50
const mostMissing = 50
// As many as a line of a page has room for.
const mostRefused = 3
const EventForm = type({ event: string(), email: string(), payload: optional(string()) })

/** The events that came to the account: how often, with what, and which automations hear them. */
export function eventPages(pages: AccountPages, deps: AutomationPageDeps): void {
  const again = (visit: Visit, faults: Faults) => showEvents(deps, visit, faults)
  pages.get('/events', 'automations.read', (visit) => again(visit, noFaults))
  const sending = { action: 'automations.write', form: EventForm, again } as const
  pages.post('/events', sending, async ({ account, base, form }) => {
    const payload = payloadIn(form.payload)
    const given = { event: form.event.trim(), email: form.email.trim(), payload }
    const event = checked(operations.sendEvent, given)
    const billing = await readBilling(deps.store.read, deps.plans, account.id)
    const [accepted] = await acceptEvents(deps, billing, [event])
    const { started = 0, resumed = 0, automations = [] } = accepted ?? {}
    const refused = automations.flatMap(({ name, reason }) =>
      reason === undefined
        ? []
        : `. ${inQuotes(name)} did not begin: ${inside(refusalWords(reason))}`,
    )
    return redirect(`${base}/events`, {
      flash: `“${event.event}” came for ${given.email}: it began ${plural(started, 'automation')} and ended ${plural(resumed, 'wait')}${refused.slice(0, mostRefused).join('')}. The table below counts it in a few seconds`,
      audit: { action: 'event.send', target: event.event },
    })
  })
}

/** The words as they stand within a sentence. */
const inside = (words: string) => words.charAt(0).toLowerCase() + words.slice(1)

/** The typed payload. Throws a 422 for a text that is none. */
function payloadIn(typed: string | undefined): unknown {
  if (typed === undefined || typed.trim() === '') return undefined
  const fields = eventFields(typed.trim())
  if (fields !== undefined) return fields
  const message =
    'What comes with it cannot be read: write a line each, such as total = 5, or JSON such as {"total": 5}'
  throw new ApiError('validation_error', message, { status: 422, fields: { field: 'payload' } })
}

async function showEvents(
  { store: { read }, versions }: AutomationPageDeps,
  visit: Visit,
  faults: Faults,
): Promise<PageAnswer> {
  const { account, base, now, query } = visit
  const hearers = await hearersOf(read, versions, account.id)
  const shown = (some: readonly Hearer[] = []) => some.map((one) => hearerView(one, base))
  const { rows, newer, older } = await listOf({ path: `${base}/events`, query }, async (after) => {
    const found = await listEventNames(read, account.id, { limit: perPage + 1, after })
    const some = found.slice(0, perPage)
    return { page: some, nextCursor: found.length > perPage ? (some.at(-1)?.name ?? null) : null }
  })
  const named = await namesOf(read, account.id, idsAmong(rows.map(({ sample }) => sample)))
  const view: EventsView = {
    base,
    mayWrite: visit.may('automations.write'),
    newer,
    older,
    events: rows.map(({ name, count, lastAt, sample }) => ({
      name,
      says: name.startsWith('$') ? `When ${eventWords(name)}` : undefined,
      count: count.toLocaleString('en-GB'),
      last: moment(lastAt, now),
      sample: sample === undefined || sample === null ? undefined : shortened(sample),
      sampleSays: name.startsWith('$') ? ownFieldWords(sample, named) : undefined,
      heardBy: shown(hearers.get(name)),
      isOwn: name.startsWith('$'),
    })),
    missing: await missingAmong(read, account.id, hearers).then((names) =>
      names.map((name) => ({ name, heardBy: shown(hearers.get(name)) })),
    ),
    names: (await seenEvents(read, account.id)).map(({ name }) => name),
    faults,
  }
  return page('automations/events', view, { title: 'Events' })
}

/**
 * The events that are listened for and never came. The appliance's own events are left out: they come by themselves.
 */
async function missingAmong(
  read: AutomationPageDeps['store']['read'],
  accountId: string,
  hearers: ReadonlyMap<string, unknown>,
): Promise<string[]> {
  const wanted = [...hearers.keys()].filter((name) => !name.startsWith('$')).sort()
  const came = await namesAmong(read, accountId, wanted)
  return wanted.filter((name) => !came.has(name)).slice(0, mostMissing)
}

const how = {
  starts: 'begins',
  waits: 'is waited for in',
  ends: 'ends, or is the goal of,',
} as const

const hearerView = ({ automationId, name, how: does }: Hearer, base: string): HearerView => ({
  page: `${base}/automations/${automationId}`,
  says: `${how[does]} “${name}”`,
})

const uuid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi

/** The ids in samples that may belong to things of the account. */
const idsAmong = (samples: readonly unknown[]): string[] => [
  ...new Set((JSON.stringify(samples).match(uuid) ?? []).map((id) => id.toLowerCase())),
]

const mostLetters = 300
function shortened(sample: unknown): string {
  const text = sampleWords(sample)
  return text.length > mostLetters ? `${text.slice(0, mostLetters)}…` : text
}
