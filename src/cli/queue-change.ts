import { type Command, Option } from 'commander'
import { counted, shownCount } from '../amounts/index.js'
import { makeEffects } from '../app/effects.js'
import {
  changeWaiting,
  checkedReason,
  findDeliveries,
  type QueueChangeName,
  type QueueFilter,
  queueChanges,
  summarise,
  usualReason,
} from '../deliveries/index.js'
import { OperatorError } from '../errors/index.js'
import { tellRetry } from './ask.js'
import type { CommandRow } from './command-row.js'
import { type AskOptions, askOptions, confirmed, type Intent } from './confirm.js'
import { type CliDeps, withStore } from './database.js'
import { remark, say, sayJson } from './output.js'
import { placeOf, settingsOf } from './place.js'
import { plansOf } from './plan.js'
import { type FilterOptions, filterOf, filterOptions, idOf, isChosen } from './queue-filter.js'

/** What any of the verbs may be given. */
interface ChangeOptions extends FilterOptions, AskOptions {
  all?: true
  reason?: string
}

/** One verb on waiting deliveries, for help, question and answer. */
interface Change {
  name: QueueChangeName
  about: string
  help: string
  /** Whom the reason is for; undefined for a verb without a reason. */
  reasonFor?: string
  /** Null: the verb removes nothing, and does not ask. */
  how: Intent['how'] | null
  /** Says what would happen to this many deliveries. */
  fact?: string
  /** Said behind what has happened. */
  after: string
  /** Said in its place when the running appliance was told. */
  told?: string
}

const soon = 'A running appliance sees it within 30 seconds.'

/**
 * One row a verb, in the form of `queueChanges`, which knows how each verb is written; only
 * options, question and answer differ here.
 */
const changes: readonly Change[] = [
  {
    name: 'retry',
    about: 'try deferred deliveries now instead of at their next time',
    help: `$ posthorn queue retry --domain example.com

Mail that was never tried keeps its time, so scheduled mail does not leave early. A running appliance
does not wait for the end of a suspension: one message tries the site at once.`,
    how: null,
    after: `. ${soon}`,
    told: '. At a suspended site one message tries it at once, the others follow if it gets through.',
  },
  {
    name: 'hold',
    about: "keep deliveries from leaving until 'queue release'",
    help: `$ posthorn queue hold --domain example.com --reason 'their postmaster asked'

Mail that is accepted later is not held.`,
    reasonFor: 'why, for whoever looks at it later, the sender too',
    how: 'mild',
    fact: "They wait until 'posthorn queue release'",
    after: ". 'posthorn queue release' lets them go on",
  },
  {
    name: 'release',
    about: 'let held deliveries go on',
    help: '$ posthorn queue release --all',
    how: 'mild',
    fact: 'They leave as mail, which cannot be taken back; what a surge holds stays',
    after: `. ${soon}`,
  },
  {
    name: 'fail',
    about: 'end deliveries as failed, also held ones; this cannot be undone',
    help: `$ posthorn queue fail --domain gone.example --reason 'the domain is closed'

The reason is part of the reply that the sender sees.`,
    reasonFor: 'why, for the sender of the mail',
    how: 'moderate',
    fact: 'They are never sent, and their senders are told so',
    after: '',
  },
]

/** `queue retry`, `hold`, `release` and `fail`: of named deliveries, or of all that fit. */
export const changeRows: readonly CommandRow[] = changes.map((change) => ({
  usage: `${change.name} [id...]`,
  about: change.about,
  options: [
    ...filterOptions(),
    ...(change.how === null ? [] : askOptions()),
    new Option('--all', 'everything that waits'),
    ...reasonOptions(change),
  ],
  help: `Example:\n  ${change.help}`,
  run: (ids: string[], options: ChangeOptions, command: Command) =>
    run(change, ids, options, command),
}))

/**
 * Whether a reason is wanted depends on who reads it: the sender of the mail sees that of `fail`,
 * so it has no default.
 */
function reasonOptions({ name, reasonFor = '' }: Change): Option[] {
  const { reason } = queueChanges[name]
  const option = () => new Option('--reason <text>', reasonFor)
  if (reason === 'usual') return [option().default(usualReason)]
  return reason === 'required' ? [option().makeOptionMandatory()] : []
}

/**
 * Works on the rows in small transactions, between which mail goes on. Leaves mail in flight alone:
 * nobody knows yet whether it is delivered.
 */
async function run(
  change: Change,
  ids: readonly string[],
  options: ChangeOptions,
  command: Command,
): Promise<void> {
  const place = placeOf(command)
  const settings = settingsOf(place)
  const reason = checkedReason(options.reason ?? '-')
  // Leaving the choice out must not mean everything.
  if (ids.length === 0 && !isChosen(options) && !options.all) {
    command.error(
      'error: name deliveries or emails, choose by an option such as --domain, or --all',
    )
  }
  const total = await withStore(place, async (deps) => {
    const { read } = deps.store
    const chosen = await filterOf(read, options, deps.clock.now())
    const named = ids.length === 0 ? {} : { ids: await deliveriesOf(deps, ids) }
    const land = makeEffects(settings, plansOf(place))
    const filter = { ...chosen, ...named, ...queueChanges[change.name].only }
    const intent = await intentOf(change, deps, filter)
    // An operator who names deliveries by number has looked at them.
    const isNamed = intent?.how === 'mild' && ids.length > 0
    const isClear = (isNamed || intent?.counts?.deliveries === 0) && !options.dryRun
    if (intent && !isClear && !(await confirmed(place, options, intent))) return undefined
    const done = await changeWaiting(deps, change.name, filter, {
      reason,
      land,
      onProgress(seen) {
        if (seen % 50_000 === 0 && process.stderr.isTTY) remark(`${shownCount(seen)} so far`)
      },
    })
    // A running appliance tries a suspended site at once only when it is told; otherwise the next
    // start tries it anyway.
    const { retried } = done
    const ofSurges =
      change.name === 'release'
        ? await countWaiting(deps, { ...chosen, ...named, heldBy: 'surge' })
        : 0
    const heard = retried.length > 0 && (await tellRetry(place, deps.store, retried))
    return { ...done, heard, ofSurges }
  })
  if (total === undefined) return
  const { seen, changed, inFlight, unchanged, heard, ofSurges } = total
  if (ofSurges > 0)
    remark(`${shownCount(ofSurges)} held by a surge stay: decide about it, 'posthorn surge list'`)
  if (place.json) return sayJson({ changed, inFlight, unchanged })
  if (seen === 0) return say('No waiting delivery matches')
  const { name, after, told = after } = change
  const { done } = queueChanges[name]
  say(`${counted(changed, 'delivery is', 'deliveries are')} ${done}${heard ? told : after}`)
  if (inFlight > 0) {
    remark(
      `${shownCount(inFlight)} in flight, left alone: run it again once their attempts have ended`,
    )
  }
  if (unchanged > 0)
    remark(`${shownCount(unchanged)} left as they were: never tried yet, held, or gone meanwhile`)
}

async function countWaiting({ store, clock }: CliDeps, filter: QueueFilter): Promise<number> {
  const { classes } = await summarise(store.read, filter, { now: clock.now(), lanes: 0 })
  return classes.reduce((all, { waiting }) => all + waiting, 0)
}

/** Undefined if nothing needs a question. */
async function intentOf(
  { name, how, fact = '' }: Change,
  { store, clock }: CliDeps,
  filter: QueueFilter,
): Promise<Intent | undefined> {
  if (how === null) return undefined
  const { classes } = await summarise(store.read, filter, { now: clock.now(), lanes: 0 })
  const sum = (of: 'waiting' | 'inFlight') => classes.reduce((all, row) => all + row[of], 0)
  const [deliveries, inFlight] = [sum('waiting'), sum('inFlight')]
  const byClass = classes.map((row) => `${shownCount(row.waiting)} ${row.class}`)
  return {
    to: `${name} ${counted(deliveries, 'delivery', 'deliveries')}${byClass.length > 1 ? ` (${byClass.join(', ')})` : ''}`,
    facts: [
      fact,
      ...(inFlight > 0 ? [`${shownCount(inFlight)} of them are in flight and are left alone`] : []),
    ],
    counts: {
      deliveries,
      inFlight,
      classes: Object.fromEntries(classes.map((row) => [row.class, row.waiting])),
    },
    how,
  }
}

/** The waiting deliveries of the given ids, each of which must have some. */
async function deliveriesOf({ store }: CliDeps, given: readonly string[]): Promise<number[]> {
  const found: number[] = []
  for (const id of given) {
    const { waiting, ended } = await findDeliveries(store.read, idOf(id))
    if (waiting.length === 0) {
      const hint = ended.length > 0 ? `; 'posthorn queue show ${id}' tells what became of it` : ''
      throw new OperatorError(`Nothing of ${id} waits${hint}. Nothing was changed`)
    }
    found.push(...waiting.map((delivery) => delivery.id))
  }
  return found
}
