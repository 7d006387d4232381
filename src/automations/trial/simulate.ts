import type { EndStatus } from '../../runs/index.js'
import {
  type Compiled,
  type Departure,
  hears,
  limits,
  listensTo,
  type RunContact,
  type RunState,
  type StoredEvent,
  startRun,
  staysOn,
} from '../definition/index.js'
import {
  advanced,
  changed,
  inLastHour,
  type RunFacts,
  refusalOf,
  type Walked,
  type WalkedEntry,
  wakes,
  walk,
} from '../runs/index.js'
import type { SimulatedHappening, SimulatedWorld, Simulation } from './simulation.js'

// Walks until the simulation gives up: more than a run of 1,000 steps takes that is blocked now and then.
const maxWalks = 5_000
// Lines until the simulation stops, since it holds up its thread: of an automation that starts itself again and again
// only the beginning is told.
const maxLines = 5_000

/**
 * Walks a contact through an automation with a clock of its own, and writes nothing. It goes as the engine does: at
 * each instant first the events, then the run if it is due. It ends when it has told some 5,000 lines.
 */
export function simulate(version: Compiled, world: SimulatedWorld): Simulation {
  const going = begin(version, world)
  const { happenings } = going
  for (let walks = 0; ; ) {
    if (walks === maxWalks || going.told.lines.length >= maxLines) {
      going.told.cut = true
      break
    }
    const [next] = happenings
    const due = going.run === undefined ? Number.POSITIVE_INFINITY : going.run.dueAt
    if (next !== undefined && next.at <= Math.max(due, going.now)) {
      if (next.at > world.until) break
      happenings.shift()
      going.now = Math.max(going.now, next.at)
      if (next.kind === 'departed') depart(going, next.reason)
      else takeIn(going, next)
      continue
    }
    if (due > world.until) break
    going.now = Math.max(going.now, due)
    step(going)
    walks += 1
  }
  const last = going.told.runs.at(-1)
  if (last !== undefined) last.state = going.run
  return going.told
}

/** A walk on its way. */
interface Simulating {
  version: Compiled
  world: SimulatedWorld
  /** Events still to come, in the order of time. */
  happenings: SimulatedHappening[]
  now: number
  contact: RunContact
  departed: Departure | undefined
  events: StoredEvent[]
  run: RunState | undefined
  trigger: StoredEvent | undefined
  /** How many mails in a row have led to the event that began the run. */
  depth: number
  /** When the latest mail of each step of this run was made. */
  mailed: Map<string, number>
  starts: number[]
  told: Simulation
}

/** The world before anything has happened. */
const begin = (version: Compiled, world: SimulatedWorld): Simulating => ({
  version,
  world,
  happenings: [...world.happenings].sort((a, b) => a.at - b.at),
  now: Number.NEGATIVE_INFINITY,
  contact: world.contact,
  departed: undefined,
  events: [],
  run: undefined,
  trigger: undefined,
  depth: 0,
  mailed: new Map(),
  starts: [],
  told: { lines: [], runs: [], refused: [], cut: false },
})

/** An event, as ingest takes it in: runs that were there before it hear it, then it may start one. */
function takeIn(
  going: Simulating,
  { name, payload, depth = 0 }: SimulatedHappening & { kind: 'event' },
): void {
  const { version, now, contact, events, starts, departed } = going
  const event = { id: events.length + 1, name, payload, at: now }
  events.push(event)
  const running = going.run !== undefined
  if (going.run !== undefined) wake(going, going.run, event)
  const { step } = version.trigger
  if (step.type !== 'trigger' || step.config.eventName !== name) return
  const lastStartedAt = starts.at(-1)
  const startsInLastHour = inLastHour(starts, now).length
  const before = lastStartedAt === undefined ? undefined : { lastStartedAt, startsInLastHour }
  const refused =
    depth > limits.depth
      ? 'limit'
      : refusalOf(version, { contact, event, departed, running, before, now })
  if (refused !== undefined) {
    going.told.refused.push({ at: now, reason: refused })
    return
  }
  going.run = startRun(contact.id, version.trigger.id, now)
  going.trigger = event
  going.depth = depth
  going.mailed.clear()
  starts.push(now)
  going.told.runs.push({ startedAt: now, ended: null, state: going.run })
}

/**
 * Asks the three questions that ingest asks, in the same order: an exit rule ends the run, a goal
 * moves it, a wait is woken.
 */
function wake(going: Simulating, run: RunState, event: StoredEvent): void {
  const { version, now, contact, trigger } = going
  const facts = { contact, trigger, mail: (key: string) => engagement(going, key), now }
  const heard = hears(version, run, facts, event)
  if (heard?.kind === 'exit') end(going, run.stepId, 'exited', heard.reason)
  else if (heard?.kind === 'goal') {
    tell(going, [{ stepId: run.stepId, at: now, result: 'goal', eventId: event.id }])
    const { stepId } = heard
    going.run = { ...run, stepId, heard: heard.heard, enteredAt: null, wokenBy: null, dueAt: now }
  } else if (run.enteredAt !== null && run.wokenBy === null) {
    if (wakes(version, run, facts, event)) going.run = { ...run, wokenBy: event, dueAt: now }
  }
}

/** Does what suppression does in the real one, with the settings that let a run stay. */
function depart(going: Simulating, reason: Departure): void {
  // A contact who has bounced or complained is not mailed again, whatever they do after it.
  if (going.departed === undefined || going.departed === 'unsubscribed') going.departed = reason
  if (going.run !== undefined && !staysOn(going.version, reason)) {
    end(going, going.run.stepId, 'exited', reason)
  }
}

/** The run takes its steps, as far as it comes now. */
function step(going: Simulating): void {
  const { version, run, now } = going
  if (run === undefined) return
  const walked = walk(version, run, knownOf(going), now)
  for (const action of walked.actions) {
    if (action.kind === 'mail') noteMail(going, action.step.key)
    if (action.kind === 'update') {
      going.contact = changed(going.contact, action.changes) ?? going.contact
    }
  }
  tell(going, walked.history, walked.actions)
  const { next } = walked
  const last = going.told.runs.at(-1)
  going.run = advanced(run, walked, now)
  // The run is looked at later even where the block is over already: otherwise the clock would stand.
  if (next.kind === 'blocked' && going.run !== undefined) {
    going.run.dueAt = Math.max(next.until, now + 1)
  }
  if (last !== undefined && next.kind === 'end') {
    last.ended = { at: now, status: next.status, reason: next.reason }
  }
}

/** A mail is made; its open or click is an event too, as the appliance tells it. */
function noteMail(going: Simulating, key: string): void {
  const { version, mailed, now, world, happenings, depth } = going
  mailed.set(key, now)
  for (const [name, afters, unseen] of [
    ['$email.opened', world.opens, world.unseen?.opened],
    ['$email.clicked', world.clicks, world.unseen?.clicked],
  ] as const) {
    const after = afters?.get(key)
    if (after === undefined || unseen?.has(key) || !isNamed(version, name)) continue
    happenings.push({ at: now + after, kind: 'event', name, payload: {}, depth: depth + 1 })
  }
  happenings.sort((a, b) => a.at - b.at)
}

/** An event that nothing in the automation names cannot change the walk, and is not told. */
const isNamed = (version: Compiled, name: string): boolean =>
  listensTo(version).includes(name) ||
  [...version.byKey.values()].some(
    ({ step: { type, config } }) =>
      (type === 'trigger' || type === 'wait_for_event') && config.eventName === name,
  )

/** What the engine would read from the store, taken from the simulated world. */
function knownOf(going: Simulating): RunFacts {
  const { world, now, contact, departed, events, trigger } = going
  if (trigger === undefined) throw new Error('a run has begun without its event')
  return {
    contact: departed === 'deleted' ? undefined : contact,
    trigger,
    departed,
    nextEvent: (name, after) => events.find((event) => event.name === name && event.id > after),
    mail: (key) => engagement(going, key),
    optedOut: (topicId) => world.optedOut?.(topicId) ?? false,
    obstacle: (step, variables) => world.obstacle?.(step, variables, now),
  }
}

/** Delivered at once and never bounced: a walk shows the way, not the mail's fate. */
function engagement({ mailed, now, world }: Simulating, key: string) {
  const at = mailed.get(key)
  if (at === undefined) return undefined
  const since = (after: number | undefined) => after !== undefined && now >= at + after
  const { opens, clicks, unseen } = world
  const hasClicked = since(clicks?.get(key))
  // Whoever clicks has the mail open.
  const hasOpened = hasClicked || since(opens?.get(key))
  const opened = hasOpened && !unseen?.opened.has(key)
  const clicked = hasClicked && !unseen?.clicked.has(key)
  return { opened, clicked, delivered: now > at, bounced: false }
}

/** A walk may have several runs one after another, each with its own end. */
function end(going: Simulating, stepId: number, status: EndStatus, reason: string): void {
  tell(going, [{ stepId, at: going.now, result: `ended:${reason}` }])
  const last = going.told.runs.at(-1)
  if (last !== undefined) {
    last.ended = { at: going.now, status, reason }
  }
  going.run = undefined
}

/**
 * Each line is told with the run that it belongs to, so that a second run of the same contact is
 * not mixed up with the first.
 */
function tell(
  { version, world, events, told }: Simulating,
  entries: WalkedEntry[],
  actions: Walked['actions'] = [],
) {
  for (const [index, { stepId, at, result, why, eventId }] of entries.entries()) {
    const step = version.byId.get(stepId)?.step
    const event = eventId === undefined ? undefined : events[eventId - 1]
    const mail = actions.find((action) => action.kind === 'mail' && action.entry === index)
    const sent = mail?.kind === 'mail' ? { step: mail.step, variables: mail.variables } : undefined
    const stoppedBy = sent && world.wouldStop?.(sent.step, sent.variables, at)
    told.lines.push({
      at,
      run: told.runs.length - 1,
      step: step?.key ?? null,
      type: step?.type ?? null,
      result,
      ...(why === undefined ? {} : { why }),
      ...(event === undefined ? {} : { event }),
      ...(sent === undefined ? {} : { mail: sent }),
      ...(stoppedBy === undefined ? {} : { stoppedBy }),
    })
  }
}
