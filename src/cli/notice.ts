import { type Command, Option } from 'commander'
import { counted } from '../amounts/index.js'
import { dayMs } from '../clock/index.js'
import { OperatorError } from '../errors/index.js'
import {
  findNotice,
  type Notice,
  noteTests,
  noticeKinds,
  openNotices,
  operatorMails,
  pastNotices,
  silenceNotice,
  titleOf,
} from '../notices/index.js'
import { askAppliance } from './ask.js'
import { addCommands, type CommandRow } from './command-row.js'
import { withStore } from './database.js'
import { limitOption, rowNumber, wholeNumber } from './option-values.js'
import {
  jsonTime,
  remark,
  say,
  sayFields,
  sayJson,
  sayTable,
  sayText,
  shownTime,
} from './output.js'
import { placeOf, settingsOf } from './place.js'

/** `posthorn notice`: what the operator is told, in the terminal. */
export function noticeCommands(program: Command): void {
  const notice = program
    .command('notice')
    .description('what is wrong and how to fix it, as the operator is mailed')
  addCommands(notice, rows)
}

const rows: readonly CommandRow[] = [
  {
    usage: 'list',
    isDefault: true,
    about: 'show what is wrong now; status 1 when something is urgent',
    options: [new Option('--past', 'what is settled, instead'), limitOption()],
    help: 'Example:\n  $ posthorn notice list --past --limit 10',
    run: runList,
  },
  {
    usage: 'show <id>',
    about: 'show a notice with its details and how to fix it',
    help: 'Example:\n  $ posthorn notice show 17',
    run: runShow,
  },
  {
    usage: 'silence <id>',
    about: 'send no mail about a notice for some days, not even when it comes again',
    options: [
      new Option('--days <count>', 'for how long; 0 ends the silence')
        .default(30)
        .argParser(wholeNumber(0, 9_999)),
    ],
    help: 'Example:\n  $ posthorn notice silence 17 --days 7\n\nWhole kinds are silenced by [operator] silence of the settings.',
    run: runSilence,
  },
  {
    usage: 'kinds',
    about: 'show the kinds of notices, which [operator] silence names',
    help: 'Example:\n  $ posthorn notice kinds',
    run: runKinds,
  },
  {
    usage: 'mails',
    about: 'show the mails to the operator, tests too, and which way each took',
    options: [limitOption(20)],
    help: 'Example:\n  $ posthorn notice mails',
    run: runMails,
  },
  {
    usage: 'test',
    about: 'send a test mail by every way; status 1 when one of them fails',
    help: `Example:
  $ posthorn notice test

By the queue it goes as all mail does, and is followed to its end, or to the reply that puts it off, for a minute.
Each relay and the command are tried at once, and their answers shown.`,
    run: runTest,
  },
]

/** Open notices, the worst first; status 1 tells cron that one is urgent. */
async function runList(
  options: { past?: boolean; limit: number },
  command: Command,
): Promise<void> {
  const place = placeOf(command)
  const { past = false, limit } = options
  const found = await withStore(place, ({ store: { read } }) =>
    past ? pastNotices(read, limit) : openNotices(read),
  )
  // Open notices are few and all are read, as status 1 must not depend on --limit.
  const shown = found.slice(0, limit)
  if (!past && found.some(({ severity }) => severity === 'burning')) process.exitCode = 1
  if (place.json) return sayJson(shown.map(forMachines))
  sayTable(
    ['ID', 'SEVERITY', past ? 'SETTLED' : 'SINCE', 'TIMES', 'WHAT'],
    shown.map((one) => [
      String(one.id),
      one.severity,
      shownTime(past ? one.settledAt : one.firstAt),
      String(one.count),
      titleOf(one),
    ]),
    past ? 'Nothing has been settled yet' : 'Nothing is wrong',
  )
  if (found.length > limit) remark(`There are ${found.length - limit} more: --limit shows them`)
}

/** One notice, settled ones too. */
async function runShow(given: string, _options: unknown, command: Command): Promise<void> {
  const place = placeOf(command)
  const id = rowNumber(given, unknown)
  const found = await withStore(place, ({ store }) => findNotice(store.read, id))
  if (found === undefined) throw unknown(given)
  if (place.json) return sayJson(forMachines(found))
  sayText(found.text)
  say()
  sayFields({
    Kind: `${found.kind} (${found.key}), ${found.severity}`,
    Since: `${shownTime(found.firstAt)}, ${counted(found.count, 'time')}, last ${shownTime(found.lastAt)}`,
    Settled: shownTime(found.settledAt),
    Silenced: found.silencedUntil === null ? '-' : `until ${shownTime(found.silencedUntil)}`,
  })
  if (found.fix !== '') sayText(`\nHow to fix it:\n${found.fix}`)
}

/** A notice that comes again meanwhile is counted and not mailed. */
async function runSilence(
  given: string,
  options: { days: number },
  command: Command,
): Promise<void> {
  const place = placeOf(command)
  const id = rowNumber(given, unknown)
  const found = await withStore(place, async ({ store, clock }) => {
    const until = options.days === 0 ? null : clock.now() + options.days * dayMs
    await store.write((tx) => silenceNotice(tx, id, until))
    return await findNotice(store.read, id)
  })
  if (found === undefined) throw unknown(given)
  if (place.json) return sayJson(forMachines(found))
  const until = found.silencedUntil
  say(until === null ? `${id} is mailed again` : `${id} is silent until ${shownTime(until)}`)
}

/** Reads no database: the kinds are those of this release. */
function runKinds(_options: unknown, command: Command) {
  const place = placeOf(command)
  const kinds = Object.entries(noticeKinds)
  if (place.json) return sayJson(kinds.map(([kind, what]) => ({ kind, what })))
  sayTable(
    ['KIND', 'WHAT'],
    kinds.map(([kind, what]) => [kind, what]),
    '',
  )
}

/** Which notices are mailed, and whether mail reaches the operator at all. */

async function runMails({ limit }: { limit: number }, command: Command): Promise<void> {
  const place = placeOf(command)
  const mails = await withStore(place, ({ store }) => operatorMails(store.read, limit))
  if (place.json) {
    return sayJson(
      mails.map(({ id, at, kind, subject, state, path, result }) => ({
        id,
        at: jsonTime(at),
        kind,
        subject,
        state,
        path,
        result,
      })),
    )
  }
  sayTable(
    ['WHEN', 'KIND', 'STATE', 'WAY', 'SUBJECT'],
    mails.map(({ at, kind, state, path, subject }) => [
      shownTime(at),
      kind,
      state,
      path || '-',
      subject,
    ]),
    'No mail has been written yet',
  )
}

// A first attempt takes seconds, or half a minute at a server that makes strangers wait.
const followMs = 60_000

/**
 * Tries every way although one would do: the second is needed on the day when the first does not
 * work.
 */
async function runTest(_options: unknown, command: Command): Promise<void> {
  const place = placeOf(command)
  const config = settingsOf(place)
  const tried = await withStore(place, async ({ store, clock }) => {
    // Loaded only here, as these modules import many others.
    const { followQueued, tryWays } = await import('../app/operator-test.js')
    const ways = await tryWays({ store, clock, config, env: process.env })
    const runs = (await askAppliance(place, { overview: true })) !== undefined
    const notRunning = 'queued; no appliance runs here that sends it: start it, and test again'
    const followed = await Promise.all(
      ways.map(async (way) => {
        if (way.emailId === undefined) return way
        if (!runs) return { ...way, ok: false, answer: notRunning }
        const read = { read: store.read, clock }
        return { ...way, ...(await followQueued(read, way.emailId, followMs)) }
      }),
    )
    await noteTests({ store, clock, zone: config.jobs.zone }, followed)
    return followed
  })
  if (tried.length === 0) {
    throw new OperatorError(
      'There is no way to the operator: set operator.notify, and operator.relays or operator.command',
    )
  }
  if (tried.some(({ ok }) => !ok)) process.exitCode = 1
  if (place.json) return sayJson(tried.map(({ way, ok, answer }) => ({ way, ok, answer })))
  sayTable(
    ['WAY', 'RESULT', 'ANSWER'],
    tried.map(({ way, ok, answer }) => [way, ok ? 'ok' : 'failed', answer]),
    '',
  )
}

/** For an id of no notice. */
const unknown = (given: string) =>
  new OperatorError(`There is no notice ${given}; 'posthorn notice list' shows them`)

/** A notice for scripts. */
const forMachines = ({ firstAt, lastAt, settledAt, silencedUntil, ...one }: Notice) => ({
  ...one,
  firstAt: jsonTime(firstAt),
  lastAt: jsonTime(lastAt),
  settledAt: jsonTime(settledAt),
  silencedUntil: jsonTime(silencedUntil),
})
