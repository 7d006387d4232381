import { Option } from 'commander'
import * as operations from '../automations/contract.js'
import {
  type AutomationPreview,
  findAnyAutomation,
  previewAutomation,
  readHappening,
  shownPreview,
} from '../automations/index.js'
import { isoTime } from '../clock/index.js'
import { joinBacklog, makeBacklogMemory } from '../deliveries/index.js'
import { OperatorError } from '../errors/index.js'
import { type JsonObject, jsonObjectIn } from '../json/index.js'
import { afterMs } from '../rules/index.js'
import { answeringWith, type CommandDeps } from './answering.js'
import { measuring } from './broadcast-measured.js'
import type { CommandRow } from './command-row.js'
import { givenTo } from './given.js'
import { asTyped, mustBe, repeated, time } from './option-values.js'
import { say, sayTable, shownTime } from './output.js'
import { type CommandPlace, settingsOf } from './place.js'
import { plansOf } from './plan.js'
import { withRenderer } from './template.js'

/** Options of `automation walk`, as they were typed. */
interface WalkOptions {
  email: string
  payload?: JsonObject
  at?: number
  until?: number
  event?: string[]
  opens?: After[]
  clicks?: After[]
}

/** The settings that the engine goes by. */
const engineOf = (place: CommandPlace) => ({
  plans: plansOf(place),
  maxQueued: settingsOf(place).outbound.maxQueued,
  ...measuring(place),
})

/** `automation walk`. */
export const walkAutomationRows: readonly CommandRow[] = [
  {
    usage: 'walk <automation>',
    does: operations.simulateAutomation,
    about: 'show what an automation would do for somebody, step by step; nothing is written',
    options: [
      new Option(
        '--email <address>',
        'a contact of the account, or an address nobody knows',
      ).makeOptionMandatory(),
      new Option('--payload <json>', 'of the event that begins it').argParser(payload),
      new Option(
        '--at <time>',
        'when it begins, such as 2026-12-01T09:00:00Z (default: now)',
      ).argParser(time),
      new Option('--until <time>', 'show nothing later than this (default: a year on)').argParser(
        time,
      ),
      new Option('--event <event>', "what happens later, such as 'order.paid@+2d={}'").argParser(
        repeated(asTyped),
      ),
      new Option('--opens <step>', 'they open the mail of this step, such as hello@+2h').argParser(
        repeated(after),
      ),
      new Option('--clicks <step>', 'they click in the mail of this step').argParser(
        repeated(after),
      ),
    ],
    help: `Examples:
  $ posthorn automation walk Welcome --email ada@example.com --payload '{"plan":"pro"}'
  $ posthorn automation walk Cart --email ada@example.com --event 'order.paid@+2d={"total":5}' --opens hello

It walks the automation as it is now, also one that was not enabled yet. STOPPED BY is what would keep the mail from
leaving today. An open or a click without a time comes a minute after its mail.`,
    run: answeringWith(engineOf, walk),
  },
]

/**
 * The real engine walks over a copy of the definition with a clock of its own
 * (`automations/simulate.ts`): what it shows cannot differ from what a run would do. Nothing is
 * written, so it may be asked about any automation at any time.
 */
async function walk(
  { store, clock, plans, maxQueued, tracking }: CommandDeps & ReturnType<typeof engineOf>,
  named: string,
  options: WalkOptions,
) {
  const found = await findAnyAutomation(store.read, named)
  const { email, payload, at = clock.now(), until, event = [], opens = [], clicks = [] } = options
  const given = givenTo(operations.simulateAutomation, {
    email,
    at: isoTime(at),
    payload,
    events: event.map((text) => eventOf(text, at)),
    opens: Object.fromEntries(opens),
    clicks: Object.fromEntries(clicks),
    until: until === undefined ? undefined : isoTime(until),
  })
  const preview = await withRenderer({ store, clock }, async (renderer) => {
    // A backlog of its own: nothing is written, so the running appliance's backlog stays untouched.
    const backlog = joinBacklog(makeBacklogMemory())
    const deps = { store, clock, plans, renderer, backlog, maxQueued, tracking }
    return previewAutomation(deps, found.account_id, found.id, { ...given, email })
  })
  return { json: shownPreview(preview), say: () => sayWalk(preview) }
}

/**
 * STOPPED BY names what would keep the mail from leaving as things are today, such as a pause or a
 * full quota; the walk goes on past it, as it may be over by then.
 */
function sayWalk({ lines, runs, refused, unseen, cut, stepOf }: AutomationPreview): void {
  const whyOf = ({ why, event, mail }: AutomationPreview['lines'][number]) => {
    if (why !== undefined) return JSON.stringify(why)
    if (event !== undefined) return `${event.name} ${JSON.stringify(event.payload)}`
    if (mail === undefined) return ''
    return 'fault' in mail ? mail.fault : mail.subject
  }
  sayTable(
    ['AT', 'STEP', 'RESULT', 'STOPPED BY', 'WHY'],
    lines.map((line) => [
      shownTime(line.at),
      line.step ?? '-',
      line.result,
      line.stoppedBy ?? '',
      whyOf(line),
    ]),
    'It does not start',
  )
  if (cut) say('It goes on for longer than is shown here')
  for (const { step, deed, why } of unseen) {
    const does = deed === 'opened' ? 'open' : 'click in'
    say(`They ${does} the mail of ${step}, but nobody sees it (${why})`)
  }
  for (const { at, reason } of refused) say(`${shownTime(at)}: starts nothing (${reason})`)
  for (const { ended, state } of runs) {
    if (ended !== null) {
      const why = ended.reason === null ? '' : ` (${ended.reason})`
      say(`${shownTime(ended.at)}: ${ended.status}${why}`)
    } else if (state !== undefined) {
      say(`It is at ${stepOf(state.stepId) ?? '-'} then, until ${shownTime(state.dueAt)}`)
    }
  }
}

/** Reads an event's payload. */
function payload(text: string): JsonObject {
  const value = jsonObjectIn(text)
  if (value !== undefined) return value
  throw mustBe(`a JSON object such as '{"plan":"pro"}'`)
}

/** Read by the reader of the API's simulation, so that both know the same forms. */
function eventOf(text: string, start: number) {
  const read = readHappening(text, start)
  if (typeof read === 'string') throw new OperatorError(`--event: ${read}`)
  if (read.kind !== 'event') throw new Error('An event was read as something else')
  const { name, at, payload } = read
  // The time is one after the beginning, which is later than now for an automation that begins on a
  // date.
  const isAfter = !/@[^+]/.test(text.split('=')[0] ?? '')
  const when = isAfter ? { after: `PT${(at - start) / 1_000}S` } : { at: isoTime(at) }
  return { event: name, ...when, payload }
}

/** How long after the mail of a step something happens. */
type After = [step: string, after: string]

/**
 * Reads `hello` or `hello@+2h`; without a time it is a minute, as for somebody who reads mail as it comes.
 */
function after(text: string): After {
  const [, key = '', given = '1m'] = /^([a-z0-9_-]{1,64})(?:@\+(\w+))?$/.exec(text) ?? []
  if (key !== '' && afterMs(given) !== undefined) return [key, given]
  throw mustBe('the key of a step, such as hello or hello@+2h')
}
