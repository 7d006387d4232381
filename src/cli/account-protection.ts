import { type Command, Option } from 'commander'
import { type Account, findAccount } from '../accounts/index.js'
import { counted } from '../amounts/index.js'
import { dayMs } from '../clock/index.js'
import {
  type AccountStanding,
  type AuditEntry,
  actionWords,
  pauseByOperator,
  rateOf,
  readAudit,
  readStanding,
  shownRate,
  type Totals,
  unpause,
} from '../protection/index.js'
import type { Tx } from '../store/index.js'
import { stopOf } from './account-billing.js'
import { whoRuns } from './audited.js'
import type { CommandRow } from './command-row.js'
import { type AskOptions, askOptions, confirmed, type Intent } from './confirm.js'
import { type CliDeps, withStore } from './database.js'
import { jsonTime, say, sayFields, sayJson, sayTable, shownTime } from './output.js'
import { placeOf, settingsOf } from './place.js'

/** Options of `pause` and `unpause`. */
interface ChangeOptions extends AskOptions {
  note?: string
}

/** Who does what to which account, and why, as the functions of `protection/` write it down. */
type Order = Parameters<typeof unpause>[1]

const reasons = ['bounce', 'complaint'] as const
const shownEntries = 50

// Made anew for each command: Commander keeps the values in the option itself.
const note = () => new Option('--note <text>', 'why, for the audit log')

/** Account protection: how an account stands, what was done about it, and an operator's own word. */
export const accountProtectionRows: readonly CommandRow[] = [
  {
    usage: 'protection <account>',
    about: 'show the bounce and complaint rates of an account',
    help: `Complaints are in the rates when they provably come from a feedback loop (feedback-loops.toml), and an
address once; others are shown as unproved.

Example:
  $ posthorn account protection 'City library'`,
    run: runProtection,
  },
  {
    usage: 'pause <account>',
    about: "stop an account's mail until it is unpaused; what is queued waits",
    options: [
      ...askOptions(),
      new Option('--reason <reason>', 'what its API clients are told')
        .choices(reasons)
        .default('complaint'),
      new Option('--marketing', 'only campaigns, automations and marketing sends'),
      note(),
    ],
    help: "Example:\n  $ posthorn account pause 'City library' --note 'abuse report, ticket 7'",
    run: runPause,
  },
  {
    usage: 'unpause <account>',
    about: 'let a paused account send again; its counts start again at 0',
    options: [note()],
    help: "Example:\n  $ posthorn account unpause 'City library' --note 'the list is cleaned'",
    run: runUnpause,
  },
  {
    usage: 'audit [account]',
    about: `show the latest warnings, pauses and clearings, at most ${shownEntries}`,
    help: "Example:\n  $ posthorn account audit 'City library'",
    run: runAudit,
  },
]

/** Shows the counts that decide warnings and pauses, over the same window. */
async function runProtection(idOrName: string, _options: unknown, command: Command): Promise<void> {
  const place = placeOf(command)
  const { protection: settings } = settingsOf(place)
  const { found, standing } = await withStore(place, async ({ store: { read }, clock }) => {
    const found = await findAccount(read, idOrName)
    const standing = await readStanding(read, found.id, { now: clock.now(), settings })
    return { found, standing }
  })
  if (place.json) return sayJson(jsonOf(found, standing))
  sayStanding(found, standing, settings.window / dayMs)
}

/**
 * An operator's pause has the same effect as one by the rates. Clients are told `bounce` or
 * `complaint`, as the contract wants one of the two; the note tells operators alone what it really
 * was.
 */
function runPause(
  idOrName: string,
  options: { reason: (typeof reasons)[number]; marketing?: true } & ChangeOptions,
  command: Command,
): Promise<void> {
  const { reason, marketing = false } = options
  const apply = (tx: Tx, order: Order) => pauseByOperator(tx, { ...order, reason, marketing })
  return change(command, idOrName, options, apply, (deps, found) =>
    stopOf(deps, found, 'pause', marketing),
  )
}

/** Clears the counts too, or the same rates would pause the account again within minutes. */
function runUnpause(idOrName: string, options: ChangeOptions, command: Command): Promise<void> {
  return change(command, idOrName, options, unpause)
}

/** Shows the audit log of one account, or the newest rows of all accounts. */
async function runAudit(
  idOrName: string | undefined,
  _options: unknown,
  command: Command,
): Promise<void> {
  const place = placeOf(command)
  const entries = await withStore(place, async ({ store: { read } }) => {
    const accountId = idOrName && (await findAccount(read, idOrName)).id
    return readAudit(read, { accountId, limit: shownEntries })
  })
  if (place.json) return sayJson(entries.map(jsonOfEntry))
  sayTable(
    ['WHEN', 'ACCOUNT', 'WHAT', 'WHY', 'BOUNCES', 'COMPLAINTS', 'OF', 'WHO', 'NOTE'],
    entries.map(({ at, account: name, action, reason, totals, who, note }) => [
      shownTime(at),
      name,
      actionWords(action),
      reason,
      String(totals.bounces),
      String(totals.complaints),
      String(totals.recipients),
      who,
      note ?? '',
    ]),
    'Nobody was warned or paused yet',
  )
}

/**
 * One write for the change and its entry in the audit log: a pause that nobody can explain later
 * would be worse than none. The log names the person behind sudo, as `root` tells nobody anything.
 */
async function change(
  command: Command,
  idOrName: string,
  options: ChangeOptions,
  apply: (tx: Tx, order: Order) => Promise<void>,
  intentOf?: (deps: CliDeps, account: Account) => Promise<Intent>,
): Promise<void> {
  const place = placeOf(command)
  const { protection: settings } = settingsOf(place)
  const who = whoRuns()
  const done = await withStore(place, async (deps) => {
    const { store, clock } = deps
    const found = await findAccount(store.read, idOrName)
    const intent = await intentOf?.(deps, found)
    if (intent && !(await confirmed(place, options, intent))) return
    const now = clock.now()
    const order = { accountId: found.id, who, note: options.note ?? null, now, settings }
    await store.write((tx) => apply(tx, order))
    return { found, standing: await readStanding(store.read, found.id, { now, settings }) }
  })
  if (done === undefined) return
  const { found, standing } = done
  if (place.json) return sayJson(jsonOf(found, standing))
  const { paused, marketingPaused } = standing
  if (paused !== null) say(`All mail of "${found.name}" is paused; what is queued waits.`)
  else if (marketingPaused !== null) say(`Marketing of "${found.name}" is paused.`)
  else {
    say(`"${found.name}" may send again. What waited leaves within 30 seconds, runs of`)
    say('automations go on within seconds.')
  }
}

/**
 * The JSON of a command is a contract with scripts: names in camelCase, times in ISO 8601, and a
 * field is never left out because it is empty.
 */
function jsonOf({ id, name }: Account, { warnedAt, totals, ...standing }: AccountStanding) {
  const { bounce, complaint } = warnedAt
  return {
    id,
    name,
    ...standing,
    totals: nested(totals),
    warnedAt: { bounce: jsonTime(bounce), complaint: jsonTime(complaint) },
  }
}

/** An entry of the audit log for scripts. */
const jsonOfEntry = ({ at, totals, ...rest }: AuditEntry) => ({
  ...rest,
  at: jsonTime(at),
  totals: nested(totals),
})

/**
 * Columns of the database are flat. In JSON the marketing counts are an object of their own, with
 * the same fields.
 */
const nested = ({ recipients, bounces, complaints, unproved, ...rest }: Totals) => ({
  // Older entries of the audit log lack `unproved`.
  recipients,
  bounces,
  complaints,
  unproved: unproved ?? 0,
  marketing: {
    recipients: rest.marketing_recipients,
    bounces: rest.marketing_bounces,
    complaints: rest.marketing_complaints,
  },
})

/**
 * The rates beside the counts that they are made of, and per provider: one provider alone often
 * shows which list is bad.
 */
function sayStanding({ name }: Account, standing: AccountStanding, days: number): void {
  const { totals, paused, marketingPaused, warnedAt, providers } = standing
  sayFields({
    Account: name,
    Paused: paused ?? 'no',
    'Marketing paused': marketingPaused ?? 'no',
    Warned: warned(warnedAt),
    'Counted over': `${Number(days.toFixed(1))} days, since the last clearing`,
    'All mail': inWords(totals),
    'Of it marketing': inWords(nested(totals).marketing),
    ...(totals.unproved === 0
      ? {}
      : {
          Unproved: `${counted(totals.unproved, 'more complaint')}, from no known feedback loop: in no rate`,
        }),
  })
  if (providers.length === 0) return
  say()
  sayTable(
    ['PROVIDER', 'RECIPIENTS', 'BOUNCES', 'COMPLAINTS'],
    providers.map(({ provider, recipients, bounces, complaints }) => [
      provider,
      String(recipients),
      `${bounces} (${shownRate(rateOf(bounces, recipients))})`,
      `${complaints} (${shownRate(rateOf(complaints, recipients))})`,
    ]),
    '',
  )
}

/** When the account was warned since its last clearing. */
function warned({ bounce, complaint }: AccountStanding['warnedAt']): string {
  const parts = [
    ...(bounce === null ? [] : [`for bounces ${shownTime(bounce)}`]),
    ...(complaint === null ? [] : [`for complaints ${shownTime(complaint)}`]),
  ]
  return parts.join(', ') || 'no'
}

/** Counts with their shares of the recipients. */
const inWords = ({
  recipients,
  bounces,
  complaints,
}: Pick<Totals, 'recipients' | 'bounces' | 'complaints'>) =>
  `${counted(recipients, 'recipient')}, ${bounces} bounced (${shownRate(rateOf(bounces, recipients))}), ${complaints} complained (${shownRate(rateOf(complaints, recipients))})`
