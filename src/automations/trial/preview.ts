import type { Plans } from '../../billing/index.js'
import { type Clock, dayMs } from '../../clock/index.js'
import { findContact, listMembers } from '../../contacts/index.js'
import type { Backlog } from '../../deliveries/index.js'
import { ApiError, type RefusalCode } from '../../errors/index.js'
import { isJsonObject, type Json, type JsonObject, numberFault } from '../../json/index.js'
import { audienceIn, segmentMembers } from '../../segments/index.js'
import type { Store } from '../../store/index.js'
import { suppressionsAmong } from '../../suppression/index.js'
import { findTemplate, previewed, type Renderer, tryRender } from '../../templates/index.js'
import { optedOutAmong } from '../../topics/index.js'
import {
  type AutomationDefinition,
  afterMs,
  asRunContact,
  beginningPlace,
  type Crowd,
  compile,
  dateRuleOf,
  definitionIn,
  departureOf,
  findAutomation,
  frozenOf,
  makeMailTemplates,
  type RunContact,
  readDefinition,
  type StepDefinition,
  type StepOf,
} from '../definition/index.js'
import { openGate } from '../engine/index.js'
import { meetAudience } from '../runs/index.js'
import { beginningFor, payloadOf } from './beginning.js'
import { type CohortCounts, simulateCohort } from './cohort.js'
import { simulate } from './simulate.js'
import type {
  SimulatedHappening,
  SimulatedLine,
  SimulatedWorld,
  Simulation,
  TrialRefusal,
} from './simulation.js'
import { type UnseenDeed, type UnseenDeps, unseenDeeds, unseenIn } from './unseen.js'

/** What a walk needs; it writes nothing. */
export interface PreviewDeps {
  store: Store
  clock: Clock
  plans: Plans
  renderer: Renderer
  backlog: Backlog
  maxQueued: number
  /**
   * Makes of the HTML of news what arrives; by default it shows the tags that each copy fills in as they are written.
   */
  arriving?: ((html: string) => Promise<string>) | undefined
  /** What settings say of opens and clicks: a trial does not hear those that nobody would see. */
  tracking: UnseenDeps['tracking']
}

/** Who walks through, and what happens on the way, as a request says it: times in ISO 8601. */
export interface PreviewInput {
  /** A contact of the account, or an address that need not be known. */
  email: string
  /** The payload of the event that begins it. */
  payload?: Json | undefined
  /** When the event comes; now by default. */
  at?: string | undefined
  /** Each at a time, or so long after the beginning. */
  events?:
    | readonly {
        event: string
        at?: string | undefined
        after?: string | undefined
        payload?: Json | undefined
      }[]
    | undefined
  /** How long after a step's mail it is opened or clicked, by the step's key. */
  opens?: Readonly<Record<string, string>> | undefined
  clicks?: Readonly<Record<string, string>> | undefined
  until?: string | undefined
  /** A draft in place of what is kept, where steps or connections are given. */
  steps?: unknown
  connections?: unknown
  settings?: unknown
}

/** A line of the timeline, its mail rendered. */
export interface PreviewedLine extends Omit<SimulatedLine, 'mail'> {
  mail?: PreviewedMail
}

/** A mail as it would be, or why it would not be made. */
export type PreviewedMail =
  | { template: string; from: string; subject: string; html: string; text: string | null }
  | { template: string; from: string; fault: string }

/** What a walk tells; `version` is null for a draft. */
export interface AutomationPreview extends Omit<Simulation, 'lines'> {
  automationId: string
  version: number | null
  lines: PreviewedLine[]
  /** What the contact does with mails and nobody would see. */
  unseen: UnseenDeed[]
  stepOf(id: number): string | null
}

// Long enough for most runs, though each of their waits may take 90 days.
const usualLengthMs = 365 * dayMs

// Mails that are rendered: each takes the rendering thread some milliseconds, and a loop may send a hundred times.
const maxRendered = 20
// Contacts of a list that are sent through.
const cohortSize = 100

/**
 * Walks somebody through an automation with a clock of its own and writes nothing. Tells each step with why it came out
 * so, the first 20 mails as they would be, and what would stop each mail as things stand now. Throws a 404 for the
 * automation, a 422 for a draft that is not valid.
 */
export async function previewAutomation(
  deps: PreviewDeps,
  accountId: string,
  id: string,
  input: PreviewInput,
): Promise<AutomationPreview> {
  const setting = await settingOf(deps, accountId, id, input)
  const { automation, definition, compiled, unseen, worldOf } = setting
  const contact = await travellerAt(deps, accountId, input.email)
  const asks = audienceIn(JSON.stringify(definition))
  await meetAudience(deps.store.read, [{ contact, asks }])
  const wouldStop = await stopsOf(deps, accountId, definition, contact, automation.id)
  const world = worldOf(contact)
  const { lines, ...told } = simulate(compiled, { ...world, wouldStop })
  if (world.noDate !== undefined) told.refused.push({ at: world.at, reason: world.noDate })
  const rendered: PreviewedLine[] = []
  let room = maxRendered
  for (const { mail, ...line } of lines) {
    if (mail === undefined || room === 0) rendered.push(line)
    else {
      room -= 1
      const shown = await renderMail(deps, accountId, mail)
      if (!('fault' in shown)) {
        rendered.push({ ...line, mail: shown })
        continue
      }
      const { stoppedBy = shown.fault } = line
      rendered.push({ ...line, result: 'failed', mail: shown, stoppedBy })
      endAt(told, line, shown.fault)
      break
    }
  }
  return {
    ...told,
    automationId: automation.id,
    version: isDraft(input) ? null : automation.version,
    lines: rendered,
    unseen,
    stepOf: (stepId) => compiled.byId.get(stepId)?.step.key ?? null,
  }
}

/** The engine ends the run at a mail that cannot be made, so that nothing after it is told. */
function endAt(
  told: Omit<Simulation, 'lines'>,
  { run, at }: Pick<SimulatedLine, 'run' | 'at'>,
  fault: string,
): void {
  told.runs.length = run + 1
  const last = told.runs[run]
  if (last !== undefined) {
    last.ended = { at, status: 'failed', reason: `render: ${fault}` }
    last.state = undefined
  }
  told.refused = told.refused.filter((one) => one.at <= at)
  told.cut = false
}

/**
 * The preview for those who joined a list last or are in a segment, 100 at most, each by themselves: how often each
 * step came to each result. Throws a 404 for the list or segment, too.
 */
export async function previewCohort(
  deps: PreviewDeps,
  accountId: string,
  id: string,
  crowd: Crowd,
  input: Omit<PreviewInput, 'email'>,
): Promise<CohortCounts & Pick<AutomationPreview, 'unseen'>> {
  const setting = await settingOf(deps, accountId, id, input, { ...crowd })
  const { definition, compiled, unseen, worldOf } = setting
  const page = { limit: cohortSize }
  const { members } =
    'listId' in crowd
      ? await listMembers(deps.store.read, accountId, crowd.listId.toLowerCase(), page)
      : await segmentMembers(deps.store.read, accountId, crowd.segmentId.toLowerCase(), page)
  const contacts = members.map(asRunContact)
  const asks = audienceIn(JSON.stringify(definition))
  await meetAudience(
    deps.store.read,
    contacts.map((contact) => ({ contact, asks })),
  )
  const standing = await standingOf(deps, accountId, definition, contacts)
  const counts = await simulateCohort(
    compiled,
    contacts.map((contact) => asTheyStand(worldOf(contact), standing)),
  )
  return { ...counts, unseen }
}

/** Who of some contacts is suppressed or has left a topic now: the engine would ask the same when they enter. */
async function standingOf(
  { store: { read } }: PreviewDeps,
  accountId: string,
  definition: AutomationDefinition,
  contacts: readonly RunContact[],
) {
  const emails = contacts.map(({ email }) => email)
  const reasons = await suppressionsAmong(read, accountId, emails)
  const left = new Map<string, ReadonlySet<string>>()
  for (const topicId of frozenOf(definition, { automationId: '', version: 0 }).topics) {
    left.set(topicId, await optedOutAmong(read, accountId, topicId, emails))
  }
  return { reasons, left }
}

/** The world in which contacts who have departed by now have done so before anything happens. */
function asTheyStand(
  world: PreviewedWorld,
  { reasons, left }: Awaited<ReturnType<typeof standingOf>>,
): SimulatedWorld {
  const { contact, at, happenings } = world
  const reason = departureOf(reasons, contact.email)
  const gone = reason === undefined ? [] : [{ at, kind: 'departed', reason } as const]
  const optedOut = (topicId: string) => left.get(topicId.toLowerCase())?.has(contact.email) ?? false
  return { ...world, happenings: [...gone, ...happenings], optedOut }
}

/** A world, the time from which it is looked at, and why nothing begins on a date in it. */
interface PreviewedWorld extends SimulatedWorld {
  at: number
  noDate: TrialRefusal | undefined
}

/** What is simulated: the version or draft, and what happens to each contact. */
async function settingOf(
  { store, clock, tracking }: PreviewDeps,
  accountId: string,
  id: string,
  input: Omit<PreviewInput, 'email'>,
  among: JsonObject = {},
) {
  const automation = await findAutomation(store.read, accountId, id)
  const { steps, connections, settings } = input
  const definition = isDraft(input)
    ? definitionIn({ steps, connections, settings })
    : (await readDefinition(store.read, automation.id, automation.version)).definition
  const compiled = compile(definition, { seed: automation.id })
  const at = timeIn(input.at) ?? clock.now()
  const opens = aftersIn(input.opens)
  const clicks = aftersIn(input.clicks)
  const until = timeIn(input.until)
  refuseMeaningless(definition, input, until !== undefined && until < at)
  const sends = definition.steps.filter(isSend)
  const done = { opened: opens, clicked: clicks }
  const unseen = await unseenDeeds({ store, tracking }, accountId, sends, done)
  const payload = begun(definition, input, among)
  const worldOf = (contact: RunContact): PreviewedWorld => {
    const begins = beginningFor(definition, contact, { at, payload: payloadOf(payload) })
    const from = typeof begins === 'string' ? at : begins.at
    const isDated = dateRuleOf(definition) !== undefined
    const says = !isDated ? payload : typeof begins === 'string' ? {} : begins.payload
    const beginning = {
      at: from,
      kind: 'event',
      name: triggerOf(definition),
      payload: says,
    } as const
    const noDate = typeof begins === 'string' ? begins : undefined
    const happenings: SimulatedHappening[] = [
      ...(noDate === undefined ? [beginning] : []),
      ...(input.events ?? []).map(({ event, after = '', payload = {}, ...one }) => {
        const when = timeIn(one.at) ?? from + (afterMs(after) ?? 0)
        return { at: when, kind: 'event', name: event, payload } as const
      }),
    ]
    const end = until ?? from + usualLengthMs
    const seen = { opens, clicks, unseen: unseenIn(unseen) }
    return { contact, happenings, until: end, ...seen, at, noDate }
  }
  return { automation, definition, compiled, unseen, worldOf }
}

const isSend = (step: StepDefinition): step is StepOf<'send_email'> => step.type === 'send_email'

const isDraft = ({ steps, connections }: Omit<PreviewInput, 'email'>) =>
  steps !== undefined || connections !== undefined

const timeIn = (text: string | undefined) => (text === undefined ? undefined : Date.parse(text))

const aftersIn = (given: Readonly<Record<string, string>> = {}) =>
  new Map(Object.entries(given).map(([key, after]) => [key, afterMs(after) ?? 0]))

/** Refuses what would be passed over in silence: most likely it was misspelt. */
function refuseMeaningless(
  { steps }: AutomationDefinition,
  { opens = {}, clicks = {}, payload, events = [] }: Omit<PreviewInput, 'email'>,
  endsEarly: boolean,
): void {
  const sends = new Set(steps.filter(({ type }) => type === 'send_email').map(({ key }) => key))
  for (const [field, keys] of Object.entries({ opens, clicks })) {
    const unknown = Object.keys(keys).find((key) => !sends.has(key))
    if (unknown !== undefined)
      throw refused(`${field}: no send step has the key "${unknown}"`, 'noMail')
  }
  for (const given of [payload, ...events.map((event) => event.payload)]) {
    const inexact = numberFault('payload', given)
    if (inexact !== undefined) throw refused(inexact, 'inexact')
  }
  if (endsEarly) throw refused('until is earlier than the start of the walk')
}

/** In the form of the validator's faults, so that an editor shows it like those. */
const refused = (error: string, is?: RefusalCode) =>
  new ApiError('validation_error', error, {
    status: 422,
    ...(is !== undefined && { is }),
    fields: { errors: [{ key: null, error }] },
  })

/** The payload that was given, with the list, segment or form of the beginning where it names none. */
const begun = (
  definition: AutomationDefinition,
  { payload = {} }: Pick<PreviewInput, 'payload'>,
  among: JsonObject,
): Json => (isJsonObject(payload) ? { ...beginningPlace(definition, among), ...payload } : payload)

/** The name of the event that a definition begins with. */
const triggerOf = ({ steps }: AutomationDefinition): string =>
  steps.flatMap((step) => (step.type === 'trigger' ? [step.config.eventName] : []))[0] ?? ''

/** An address that nobody knows is walked as the contact that its event would make. */
async function travellerAt(
  { store, clock }: PreviewDeps,
  accountId: string,
  email: string,
): Promise<RunContact> {
  const known = await findContact(store.read, accountId, email)
  if (known === undefined) {
    const nobody = { firstName: null, lastName: null, phone: null, metadata: {} }
    return { id: store.ids.uuid(), email, ...nobody, createdAt: clock.now() }
  }
  return asRunContact(known)
}

/** What would keep a step's mail from this contact as things stand now. */
async function stopsOf(
  deps: PreviewDeps,
  accountId: string,
  definition: AutomationDefinition,
  { email }: RunContact,
  automationId: string,
): Promise<NonNullable<Parameters<typeof simulate>[1]['wouldStop']>> {
  const { read } = deps.store
  const version = frozenOf(definition, { automationId, version: 0 })
  const gateDeps = { ...deps, read, templates: makeMailTemplates() }
  const gate = await openGate(gateDeps, accountId, [version], deps.clock.now())
  const { obstacle } = gate.forRun()
  const reasons = await suppressionsAmong(read, accountId, [email])
  const departed = departureOf(reasons, email)
  const left = new Set<string>()
  for (const topicId of version.topics) {
    if ((await optedOutAmong(read, accountId, topicId, [email])).size > 0) left.add(topicId)
  }
  return (step, variables) => {
    const { topicId, type } = step.config
    const isOutlived = departed === 'unsubscribed' && type === 'transactional'
    if (departed !== undefined && !isOutlived) return departed
    if (topicId !== undefined && left.has(topicId.toLowerCase())) return 'left_topic'
    return obstacle(version, step, variables)?.reason
  }
}

/** A fault is part of the answer and not an error. */
async function renderMail(
  { store, renderer, arriving }: PreviewDeps,
  accountId: string,
  { step: { config }, variables }: NonNullable<SimulatedLine['mail']>,
): Promise<PreviewedMail> {
  const { template: slug, from, subject, templateVersion } = config
  const sender = { template: slug, from }
  try {
    const template = await findTemplate(store.read, accountId, slug, templateVersion)
    const isNews = config.type !== 'transactional'
    const shown = arriving === undefined ? 'shown' : 'kept'
    const copyTags = isNews ? shown : undefined
    const outcome = await tryRender(renderer, template, { variables, subject, copyTags })
    if (outcome.kind === 'failed') return { ...sender, fault: outcome.fault.message }
    if (!isNews || arriving === undefined) return { ...sender, ...outcome.rendered }
    const html = await arriving(outcome.rendered.html)
    return { ...sender, ...previewed(outcome.rendered), html }
  } catch (error) {
    if (error instanceof ApiError && error.code === 'not_found') {
      return { ...sender, fault: error.message }
    }
    throw error
  }
}
