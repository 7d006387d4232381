import { type Command, Option } from 'commander'
import { listAccounts } from '../accounts/index.js'
import { counted } from '../amounts/index.js'
import { shapingFiles } from '../app/files.js'
import { gateIn } from '../app/questions.js'
import { openResolver } from '../app/resolver.js'
import { systemClock } from '../clock/index.js'
import {
  conversationOf,
  type EndedDelivery,
  type Explained,
  explainOne,
  findDeliveries,
  type GateOf,
  lastSaid,
  type WaitingDelivery,
  type WhyWaiting,
} from '../deliveries/index.js'
import { OperatorError } from '../errors/index.js'
import { nodeNames } from '../nodes/index.js'
import { queueClass, type Read } from '../store/index.js'
import { askAppliance } from './ask.js'
import type { CommandRow } from './command-row.js'
import { withStore } from './database.js'
import { jsonTime, say, sayFields, sayJson, sayText, shownSoon, shownTime } from './output.js'
import { type CommandPlace, placeOf, settingsOf } from './place.js'
import { idOf } from './queue-filter.js'
import { orderForMachines } from './site.js'

// How many lines are shown: enough for a whole session without TLS that ended in one refusal.
const shownLines = 20

/** `queue show` and `queue transcript`, about deliveries that wait and those that have ended. */
export const deliveryRows: readonly CommandRow[] = [
  {
    usage: 'show <id>',
    about: 'show a delivery, or all of an email, and why it waits',
    help: 'Example:\n  $ posthorn queue show 243948816953344',
    run: runShow,
  },
  {
    usage: 'transcript <id>',
    about: 'show what was said to the receiving server in the last attempt',
    options: [new Option('--all', 'in every attempt, as far as it is kept')],
    help: 'Example:\n  $ posthorn queue transcript 243948816953344 --all',
    run: runTranscript,
  },
]

/**
 * Only the running appliance knows what holds a delivery right now (its gates are in memory), so it
 * is asked. Without one the database still tells the rest.
 */
async function runShow(given: string, _options: unknown, command: Command): Promise<void> {
  const place = placeOf(command)
  const { waiting, ended, names, nodes, now } = await withStore(place, async ({ store, clock }) => {
    const { read } = store
    const now = clock.now()
    const found = await findKnown(read, given)
    const waiting = await Promise.all(
      found.waiting.map(async (delivery) => ({
        ...(await explainOne(read, delivery, now, gatesOf(place))),
        move: await moveOf(place, read, now, delivery),
      })),
    )
    const names = new Map((await listAccounts(read)).map(({ id, name }) => [id, name]))
    return { ...found, waiting, names, nodes: await nodeNames(read), now }
  })
  if (place.json) {
    return sayJson([
      ...waiting.map((explained) => ({
        ...waitingForMachines(explained),
        moved: explained.move?.order ?? null,
        ...(nodes.size > 1 && { node: nodes.get(explained.delivery.node) ?? null }),
        transcript: explained.delivery.lastTranscript || null,
      })),
      ...ended.map(endedForMachines),
    ])
  }
  const blocks = [
    ...waiting.map(({ delivery, why, move }) => ({
      id: delivery.id,
      transcript: delivery.lastTranscript,
      fields: {
        ...waitingForPeople(delivery, names.get(delivery.accountId) ?? '', why, now),
        ...(move !== undefined && { Moved: move.says }),
        ...(nodes.size > 1 && { Node: nodes.get(delivery.node) ?? '-' }),
      },
    })),
    ...ended.map((delivery) => ({ ...delivery, fields: endedForPeople(delivery) })),
  ]
  for (const [at, { id, transcript, fields }] of blocks.entries()) {
    if (at > 0) say()
    sayFields(fields)
    if (transcript) sayEnd(id, transcript)
  }
}

/**
 * The lines are those of the wire, with the milliseconds since the connection began. They hold no
 * message content, which is the customers' and not the operator's.
 */
async function runTranscript(
  given: string,
  options: { all?: true },
  command: Command,
): Promise<void> {
  const place = placeOf(command)
  const { one, said } = await withStore(place, async ({ store: { read } }) => {
    const { waiting, ended } = await findKnown(read, given)
    const all = [...waiting, ...ended]
    const [one, ...others] = all
    if (one === undefined || others.length > 0) {
      const list = all.map(({ id, recipient }) => `\n  ${id}  ${recipient}`).join('')
      throw new OperatorError(`The email has several deliveries; choose one:${list}`)
    }
    return { one, said: options.all ? await conversationOf(read, one) : [] }
  })
  const { id, recipient } = one
  const { at, transcript: text } = lastSaid(one)
  if (place.json) {
    const attempts = said.map(({ at, transcript }) => ({ at: jsonTime(at), transcript }))
    const last = { id, recipient, at: jsonTime(at), transcript: text || null }
    return sayJson(options.all ? { ...last, attempts } : last)
  }
  if (said.length > 1) {
    for (const [i, { at, transcript }] of said.entries()) {
      say(`${i === 0 ? '' : '\n'}${shownTime(at)}`)
      sayText(transcript)
    }
    return
  }
  sayText(text || 'No conversation was kept: no server was talked to')
}

/** The last lines of the conversation, where it usually went wrong. */
function sayEnd(id: number, transcript: string): void {
  const lines = transcript.split('\n')
  say()
  if (lines.length > shownLines) {
    const left = lines.length - shownLines
    say(
      `The last conversation, without its first ${counted(left, 'line')} ('posthorn queue transcript ${id}'):`,
    )
  } else say('The last conversation:')
  for (const line of lines.slice(-shownLines)) sayText(line === '' ? line : `  ${line}`)
}

/** What the running appliance knows of the gates; undefined for each when none runs. */
export const gatesOf =
  (place: CommandPlace): GateOf =>
  async (stream, node) => {
    const answer = await askAppliance(place, { gateOf: stream, node })
    return answer && gateIn(answer)
  }

/** The order by which the delivery leaves from another pool than usual; undefined: none is for it. */
async function moveOf(place: CommandPlace, read: Read, now: number, delivery: WaitingDelivery) {
  // Loaded late, as it loads all of outbound.
  const { loadReadableShaping, movedTo, orderInWords } = await import('../outbound/index.js')
  const { dns, outbound } = settingsOf(place)
  const { lane, accountId, class: name } = delivery
  const order = await movedTo(
    {
      read,
      now,
      outbound,
      shaping: () => loadReadableShaping(shapingFiles(place.dataDir)).data,
      resolver: () => openResolver(dns, systemClock),
    },
    { lane, accountId, class: queueClass[name] },
  )
  return order && { order: orderForMachines(order), says: orderInWords(order) }
}

/** An id is a mail's (a UUID) or a delivery's (a number): logs have both. */
async function findKnown(read: Read, given: string) {
  const found = await findDeliveries(read, idOf(given))
  if (found.waiting.length + found.ended.length > 0) return found
  throw new OperatorError(
    `No delivery is known of ${given}; 'posthorn queue list' shows those that wait`,
  )
}

/**
 * `isLate` is shown so that nobody waits in vain for the next attempt: the mail expires before it.
 */
function waitingForPeople(
  delivery: WaitingDelivery,
  accountName: string,
  why: WhyWaiting,
  now: number,
): Record<string, string> {
  const isLate = why.until !== null && why.until >= delivery.expiresAt
  const when = why.until === null ? '' : `; next attempt ${shownSoon(why.until, now)}`
  const next = isLate ? `${when}, but it is given up before` : when
  return {
    Delivery: String(delivery.id),
    Email: delivery.emailId,
    To: delivery.recipient,
    Domain: delivery.lane,
    Class: delivery.class,
    ...campaignOf(delivery),
    Account: `${accountName} (${delivery.accountId})`,
    Accepted: `${shownTime(delivery.acceptedAt)}, ${shownAge(now - delivery.acceptedAt)} ago`,
    ...(delivery.scheduledAt === null ? {} : { Scheduled: shownTime(delivery.scheduledAt) }),
    Attempts: String(delivery.attempts),
    'Last attempt': shownTime(delivery.lastAttemptAt),
    'Last reply': oneLine(delivery.lastReply ?? '-'),
    'Gives up': shownTime(delivery.expiresAt),
    'Waits because': `${oneLine(why.says)}${next}`,
    ...(delivery.held === null
      ? {}
      : {
          'Held since': `${shownTime(delivery.held.since)}; was due ${shownTime(delivery.held.dueAt)}`,
        }),
  }
}

/** The campaign's id, if the mail belongs to one. */
const campaignOf = ({
  broadcastId,
}: Pick<WaitingDelivery, 'broadcastId'>): Record<string, string> =>
  broadcastId === null ? {} : { Campaign: broadcastId }

/** The fields of a delivery that has ended. */
function endedForPeople(delivery: EndedDelivery): Record<string, string> {
  return {
    Delivery: String(delivery.id),
    Email: delivery.emailId,
    To: delivery.recipient,
    ...campaignOf(delivery),
    Status: delivery.status,
    Accepted: shownTime(delivery.acceptedAt),
    Ended: shownTime(delivery.endedAt),
    Attempts: String(delivery.attempts),
    Server: delivery.remote ?? '-',
    TLS: delivery.tls ?? '-',
    Reply: oneLine(delivery.reply ?? '-'),
  }
}

/**
 * A waiting delivery for scripts. The lease is left out: it concerns only the threads, and ends
 * within seconds.
 */
export function waitingForMachines({ delivery, why }: Explained) {
  const { lastTranscript: _, lane, lease: _lease, node: _node, held, ...row } = delivery
  return {
    ...row,
    status: 'waiting' as const,
    domain: lane,
    acceptedAt: jsonTime(row.acceptedAt),
    scheduledAt: jsonTime(row.scheduledAt),
    dueAt: jsonTime(held === null ? row.dueAt : held.dueAt),
    expiresAt: jsonTime(row.expiresAt),
    lastAttemptAt: jsonTime(row.lastAttemptAt),
    held: held && { since: jsonTime(held.since), reason: held.reason },
    why: { gate: why.gate, says: why.says, until: jsonTime(why.until) },
  }
}

/** An ended delivery for scripts. */
function endedForMachines({ transcript, ...row }: EndedDelivery) {
  return {
    ...row,
    transcript: transcript || null,
    acceptedAt: jsonTime(row.acceptedAt),
    endedAt: jsonTime(row.endedAt),
  }
}

/** A reply of several lines in one, with slashes between. */
export const oneLine = (text: string) => text.replace(/\s*\n\s*/g, ' / ')

/** The two largest units: `3 d 4 h`. */
export function shownAge(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000))
  const parts = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3_600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ] as const
  const first = parts.findIndex(([value]) => value > 0)
  if (first < 0) return '0 s'
  const shown = parts.slice(first, first + 2).filter(([value]) => value > 0)
  return shown.map(([value, unit]) => `${value} ${unit}`).join(' ')
}
