// automations.md §4, row 20: the engine and the simulator tell the same of the same.
import t, { type Test } from 'tap'
import { compile } from '../../src/automations/definition/compile.js'
import type { AutomationDefinition } from '../../src/automations/definition/definition.js'
import { appended } from '../../src/automations/definition/run.js'
import { validate } from '../../src/automations/definition/validate.js'
import type { EventInput } from '../../src/automations/events/repeats.js'
import type { Run } from '../../src/automations/runs/runs.js'
import { simulate } from '../../src/automations/trial/simulate.js'
import type { SimulatedHappening, Simulation } from '../../src/automations/trial/simulation.js'
import type { JsonObject } from '../../src/json/index.js'
import { mergeInto, mergePieces } from '../../src/templates/index.js'
import { openTimeline } from '../support/automation-engine.js'
import {
  chance,
  day,
  randomDefinition,
  randomEvents,
  randomMetadata,
} from '../support/automations.js'
import { thoroughly } from '../support/thorough.js'

const rounds = Number(process.env.POSTHORN_FUZZ ?? thoroughly(5, 30))
// Each takes some tenths of a second, and one may ask for thousands.
t.setTimeout(600_000)
const subject = 'n={{ n | default: "none" }} plan={{ contact.metadata.plan | default: "-" }}'
const horizonMs = 40 * day
const openedAfterMs = 1

type Rig = Awaited<ReturnType<typeof openTimeline>>
type EventHappening = SimulatedHappening & { kind: 'event' }
interface Departed {
  at: number
  reason: 'unsubscribe' | 'bounce'
}

interface Story {
  definition: AutomationDefinition
  contacts: { id: string; email: string; firstName: string | null; metadata: JsonObject }[]
  /** For each contact. */
  events: EventHappening[][]
  departures: (Departed | undefined)[]
  from: number
}

t.test('the same history from the engine and the simulator', async (t) => {
  const rig = await openTimeline(t)
  await rig.saveTemplate('plain', { subject })
  await rig.saveTemplate('liquid', { subject: `{% if true %}${subject}{% endif %}` })
  let told = 0
  for (let seed = 1; told < rounds; seed += 1) {
    const story = await drawn(rig, seed)
    if (story === undefined) continue
    told += 1
    const id = await rig.enable(story.definition)
    await live(rig, story)
    const runs = await rig.runs(id)
    for (const [index, contact] of story.contacts.entries()) {
      const simulated = simulate(compile(story.definition, { seed: id }), {
        contact: { lastName: null, phone: null, createdAt: story.from, ...contact },
        happenings: [...(story.events[index] ?? []), ...departureOf(story.departures[index])],
        opens: new Map(story.definition.steps.map(({ key }) => [key, openedAfterMs])),
        until: story.from + horizonMs,
      })
      const own = runs.filter(({ contactId }) => contactId === contact.id)
      const real = await Promise.all(own.map((run) => toldOfRun(rig, run)))
      const same = t.same(real, toldOfSimulation(simulated), `seed ${seed}, contact ${index}`)
      if (!same) return t.comment(JSON.stringify(story, null, 1))
    }
    await rig.counted(id)
    await countedSteps(t, rig, id, runs)
    await rig.archive(id)
  }
  return undefined
})

/** A story by its seed; undefined if its definition is not valid. */
async function drawn(rig: Rig, seed: number): Promise<Story | undefined> {
  const given = chance(seed)
  const { definition } = validate(
    randomDefinition(given, {
      templates: ['plain', 'plain', 'liquid'],
      from: 'a@sender.test',
      settings: true,
      engagement: true,
    }),
  )
  if (definition === undefined) return undefined
  const from = rig.clock.now()
  const contacts: Story['contacts'] = []
  const events: EventHappening[][] = []
  const departures: Story['departures'] = []
  for (let index = 1 + given.upTo(4); index > 0; index -= 1) {
    const metadata = randomMetadata(given)
    const more = { metadata, ...(given.once(2) ? { firstName: 'Ada' } : {}) }
    const { id, email, firstName } = await rig.contact(`c${seed}-${index}@example.test`, more)
    contacts.push({ id, email, firstName, metadata })
    events.push(randomEvents(given, from + given.upTo(day)))
    const reason = given.oneOf(['unsubscribe', 'bounce'] as const)
    departures.push(given.once(4) ? { at: from + given.upTo(8 * day), reason } : undefined)
  }
  return { definition, contacts, events, departures, from }
}

const departureOf = (departed: Departed | undefined): SimulatedHappening[] => {
  if (departed === undefined) return []
  const reason = departed.reason === 'bounce' ? 'bounced' : 'unsubscribed'
  return [{ at: departed.at, kind: 'departed', reason }]
}

/** Lets it happen: what comes at the same ms comes in one batch, and before what is due then. */
async function live(rig: Rig, { contacts, events, departures, from }: Story): Promise<void> {
  const all = events.flatMap((own, index) =>
    own.map((happening) => ({ ...happening, contactId: contacts[index]?.id ?? '' })),
  )
  rig.step = async () => {
    await rig.settle()
    await open(rig)
  }
  const times = [...all, ...departures].flatMap((one) => (one === undefined ? [] : [one.at]))
  for (const at of [...new Set(times)].sort((a, b) => a - b)) {
    if (at > from + horizonMs) break
    await rig.passUntil(at)
    const batch = all
      .filter((one) => one.at === at)
      .map(({ contactId, name: event, payload }): EventInput => ({ contactId, event, payload }))
    if (batch.length > 0) await rig.accept(...batch)
    for (const [index, departed] of departures.entries()) {
      if (departed?.at === at) await rig.depart(contacts[index]?.email ?? '', departed.reason)
    }
    await rig.step()
  }
  await rig.passUntil(from + horizonMs + 1)
}

/** All mail that has been made is delivered and read. */
async function open({ store, clock }: Rig): Promise<void> {
  await store.write(async (tx) => {
    await tx
      .updateTable('emails')
      .set({ opened_at: clock.now(), delivered: 1 })
      .where('opened_at', 'is', null)
      .execute()
  })
}

/** Row 22: the counters of steps are what histories say. */
async function countedSteps(t: Test, { store }: Rig, id: string, runs: readonly Run[]) {
  const lines = runs.flatMap(({ history }) => history)
  if (lines.some(({ result }) => result.startsWith('cut:'))) return
  const steps = await store.read
    .selectFrom('automation_steps')
    .select(['key', 'met', 'not_met', 'received', 'timed_out', 'mails'])
    .where('automation_id', '=', id)
    .execute()
  const counted = steps.map(({ key }) => {
    const times = (result: string) =>
      lines.filter((line) => line.step === key && line.result === result).length
    return {
      key,
      met: times('met'),
      not_met: times('not_met'),
      received: times('received'),
      timed_out: times('timed_out'),
      mails: times('sent'),
    }
  })
  t.same(steps, counted, 'counters of steps')
}

async function toldOfRun({ store }: Rig, run: Run) {
  const { status, reason, startedAt, updatedAt, history } = run
  const ids = history.flatMap(({ emailId }) => (emailId === undefined ? [] : [emailId]))
  const mails = new Map<string, string>()
  if (ids.length > 0) {
    const rows = await store.read
      .selectFrom('emails')
      .select(['id', 'subject'])
      .where('id', 'in', ids)
      .execute()
    for (const { id, subject } of rows) mails.set(id, subject)
  }
  const isLive = status === 'running' || status === 'waiting'
  return {
    startedAt,
    end: isLive ? null : `${status} ${reason} ${updatedAt}`,
    lines: history.map(({ step, at, result, emailId = '' }) =>
      [step, at - startedAt, result, mails.get(emailId)].join(' '),
    ),
  }
}

function toldOfSimulation({ lines, runs }: Simulation) {
  const pieces = mergePieces(subject) ?? []
  return runs.map(({ startedAt, ended }, index) => {
    const own = lines.filter(({ run }) => run === index)
    // Shortened as it is kept, each line by its place.
    const kept = appended(
      [],
      own.map(({ at, result }, place) => ({ stepId: place + 1, at, result })),
    )
    return {
      startedAt,
      end: ended === null ? null : `${ended.status} ${ended.reason} ${ended.at}`,
      lines: kept.map(({ stepId, at, result }) => {
        const { step = null, mail } = own[stepId - 1] ?? {}
        const line = mail === undefined ? undefined : mergeInto(pieces, mail.variables)
        return [step, at - startedAt, result, line].join(' ')
      }),
    }
  })
}
