import { counted, shownBytes } from '../amounts/index.js'
import { findUnknownPlans, type Plans, stoppedAccounts } from '../billing/index.js'
import type { Clock } from '../clock/index.js'
import type { Config } from '../config/index.js'
import { type LiveGate, type StreamDue, streamsAfter } from '../deliveries/index.js'
import { messageOf } from '../errors/index.js'
import { nodeNames } from '../nodes/index.js'
import type { NoticeKind, Raised } from '../notices/index.js'
import { type DiskRoom, diskRoom, type Read, type Store, sinceCommit } from '../store/index.js'
import type { Crew } from './crew.js'
import { makeJobLook } from './job-conditions.js'
import { makeNodeLook } from './node-conditions.js'

export interface ConditionDeps {
  store: Pick<Store, 'read' | 'node' | 'commits'>
  clock: Clock
  config: Config
  dataDir: string
  /** As they were read at the start. */
  plans: Plans
  crew: Pick<Crew, 'unwell' | 'dyingThreads' | 'gateOf' | 'contacts'>
  backlog: { readonly size: number; readonly outOfRoom?: boolean }
  /** Tests: another disk. */
  roomOf?: (dataDir: string) => Promise<DiskRoom>
}

/** What is wrong at this moment, of the kinds that were looked at. */
export interface Observed {
  kinds: readonly NoticeKind[]
  raised: Raised[]
  /** Why the database could not be asked. */
  fault: string | undefined
}

/**
 * Looks at what can be seen at any moment: disk, threads, queue, failover, jobs, held mail, plans. A finding stands
 * until a look does not find it any more. Never rejects.
 */
export function makeObserver(deps: ConditionDeps): () => Promise<Observed> {
  const { store } = deps
  const lookAtQueue = makeQueueLook(deps)
  const looks: { kinds: NoticeKind[]; isOfDatabase: boolean; look: () => Promise<Raised[]> }[] = [
    { kinds: ['disk'], isOfDatabase: false, look: () => disk(deps) },
    { kinds: ['thread'], isOfDatabase: false, look: async () => threads(deps) },
    {
      kinds: ['queue-stuck'],
      isOfDatabase: true,
      look: async () => [...(await lookAtQueue()), ...(await cutOff(deps))],
    },
    { kinds: ['failover'], isOfDatabase: true, look: sinceCommit(store, () => failover(deps)) },
    { kinds: ['held'], isOfDatabase: true, look: sinceCommit(store, () => held(store.read)) },
    { kinds: ['plan'], isOfDatabase: true, look: sinceCommit(store, () => unknownPlans(deps)) },
    { kinds: ['job', 'backup'], isOfDatabase: true, look: makeJobLook(deps) },
    ...(deps.config.store.url === ''
      ? []
      : [{ kinds: ['node' as const], isOfDatabase: true, look: makeNodeLook(store) }]),
  ]
  return async () => {
    const seen: { kinds: NoticeKind[]; raised: Raised[] } = { kinds: [], raised: [] }
    let fault: string | undefined
    for (const { kinds, isOfDatabase, look } of looks) {
      try {
        seen.raised.push(...(await look()))
        seen.kinds.push(...kinds)
      } catch (error) {
        if (isOfDatabase) fault ??= messageOf(error)
      }
    }
    return { ...seen, fault }
  }
}

const GiB = 1024 ** 3

/** Told in two stages: once a day when room becomes scarce, and at once when little room is left. */
async function disk({
  dataDir,
  config,
  backlog,
  roomOf = diskRoom,
}: ConditionDeps): Promise<Raised[]> {
  const { freeBytes, totalBytes } = await roomOf(dataDir)
  const share = config.operator.diskFree / 1e6
  // A large disk still has enough room where this share is far from used up.
  const wanted = Math.min(totalBytes * share, 10 * GiB)
  const isOut = backlog.outOfRoom === true
  if (freeBytes >= wanted && !isOut) return []
  const isShort = isOut || freeBytes < Math.min(wanted / 4, GiB)
  const left = `${shownBytes(freeBytes)} of ${shownBytes(totalBytes)}`
  return [
    {
      kind: 'disk',
      key: dataDir,
      severity: isShort ? 'burning' : 'daily',
      text: [`The disk of ${dataDir} is nearly full: ${left} are left`, saysOfMail(isOut, isShort)],
      fix: [`df -h ${dataDir}; sudo du -xh --max-depth=2 / | sort -h | tail`, 'or a larger disk'],
    },
  ]
}

function saysOfMail(isOut: boolean, isShort: boolean): string {
  if (isOut) {
    return 'Posthorn takes no new mail until there is room (503); what it has taken goes on, and retention deletes what may go.'
  }
  return isShort
    ? 'When it is full Posthorn takes no mail any more (503); what it has taken stays.'
    : 'Posthorn takes mail as long as there is room.'
}

// A thread that dies is back within half a minute, and none holds its event loop for so long on purpose.
const unwellMs = 60_000

/** A thread that dies and starts again looks well most of the time; so dying is a state of its own. */
function threads({ crew }: ConditionDeps): Raised[] {
  const unwell = crew.unwell(unwellMs).map(({ thread, state }) => ({
    thread,
    says: state === 'hung' ? 'does not answer' : 'is down and does not start',
  }))
  const dying = crew.dyingThreads().map((thread) => ({ thread, says: 'stops again and again' }))
  const byName = new Map([...dying, ...unwell].map((one) => [one.thread, one.says]))
  return [...byName].map(([thread, says]) => ({
    ...({ kind: 'thread', severity: 'burning' } as const),
    key: thread,
    text: `The thread ${thread} of Posthorn ${says}`,
    fix: [
      "journalctl -u posthorn --since '1 hour ago' | grep -i thread",
      'sudo systemctl restart posthorn',
    ],
  }))
}

/** Streams that one look at the queue takes: the main thread looks. */
const streamsAtOnce = 300
const asked = 3

/** Goes round the whole queue, some streams a look; the findings are those of the last whole round. */
function makeQueueLook({ store, clock, config, crew, backlog }: ConditionDeps) {
  let after: StreamDue | undefined
  let overdue: StreamDue[] = []
  let found: Raised[] = []
  return async (): Promise<Raised[]> => {
    if (backlog.size === 0 && after === undefined) {
      found = []
      return found
    }
    const now = clock.now()
    const { queueAge } = config.operator
    const streams = await streamsAfter(store.read, store.node.number, after, streamsAtOnce)
    const stopped = new Set((await stoppedAccounts(store.read)).all)
    overdue.push(
      ...streams.filter(
        ({ dueAt, class: of, accountId }) =>
          of === 0 && dueAt <= now - queueAge && !stopped.has(accountId),
      ),
    )
    overdue = overdue.sort((a, b) => a.dueAt - b.dueAt).slice(0, 100)
    after = streams.length < streamsAtOnce ? undefined : streams.at(-1)
    if (after !== undefined) return found
    const worst = overdue
    overdue = []
    const gates = await Promise.all(worst.slice(0, asked).map((stream) => crew.gateOf(stream)))
    found = worst.length === 0 ? [] : [queueStuck(worst, gates, now)]
    return found
  }
}

/** Two different troubles: mail that nobody sends, and mail that a gate holds for longer than it should. */
function queueStuck(
  worst: readonly StreamDue[],
  gates: readonly (LiveGate | undefined)[],
  now: number,
): Raised {
  const minutes = Math.round((now - (worst[0]?.dueAt ?? now)) / 60_000)
  // Mail behind a gate waits for a reason that passes; mail behind no gate is not being worked on.
  const isStuck = gates.some((gate) => gate === undefined)
  const where = worst.map(({ lane }) => lane).slice(0, asked)
  const many = worst.length >= 100 ? '100 or more' : String(worst.length)
  const reasons = gates.flatMap((gate, at) =>
    gate === undefined ? [] : [`${where[at]}: ${gate.says}`],
  )
  return {
    kind: 'queue-stuck',
    key: 'transactional',
    severity: isStuck ? 'burning' : 'daily',
    text: [
      isStuck
        ? 'Transactional mail is due, but nothing sends it'
        : 'Transactional mail waits for longer than it should',
      `The oldest has been due for ${counted(minutes, 'minute')}; waiting destinations: ${many}, such as ${where.join(', ')}.`,
      ...reasons,
    ],
    fix: ['posthorn queue list', ...(isStuck ? ['sudo systemctl restart posthorn'] : [])],
  }
}

// One or two domains may be dead, or unreachable for everybody.
const manyUnreached = 3

/** Nothing that is tried gets a connection: mail is put off each time, so none of it is ever due for long. */
async function cutOff({ clock, config, crew, backlog }: ConditionDeps): Promise<Raised[]> {
  if (backlog.size === 0) return []
  const now = clock.now()
  const contacts = await crew.contacts()
  const reachedAt = Math.max(0, ...contacts.map((one) => one.reachedAt))
  const unreached = contacts
    .flatMap((one) => one.unreached)
    .filter(({ lastAt }) => lastAt > reachedAt)
  const since = Math.min(now, ...unreached.map(({ firstAt }) => Math.max(firstAt, reachedAt)))
  if (unreached.length < manyUnreached || now - since < config.operator.queueAge) return []
  const lanes = unreached.map(({ lane }) => lane).slice(0, asked)
  return [
    {
      kind: 'queue-stuck',
      key: 'connections',
      severity: 'burning',
      text: [
        'No mail leaves: no server at all can be reached',
        `For ${counted(Math.round((now - since) / 60_000), 'minute')} every connection has failed, to ${unreached.length} domains such as ${lanes.join(', ')}`,
        unreached.at(-1)?.why ?? '',
        'The mail waits and is tried again. Where the provider blocks port 25 it never leaves this way.',
      ],
      fix: [
        'posthorn doctor',
        'ask the provider of the machine to open port 25 outwards, or name a smart host in [outbound.failover]',
      ],
    },
  ]
}

/** Only what the appliance has decided itself; the operator knows of their own orders. */
async function failover({
  store: { read },
  config: { node },
}: Pick<ConditionDeps, 'store' | 'config'>): Promise<Raised[]> {
  // Each node has its own way out: where there are several nodes, each may be cut off alone.
  const names = node.join ? await nodeNames(read) : new Map<number, string>()
  const rows = await read
    .selectFrom('egress')
    .selectAll()
    .where('way', '=', 'failover')
    .where('orders', '=', 'auto')
    .orderBy('scope')
    .orderBy('node')
    .execute()
  return rows.map(({ scope, why, node: number }) => ({
    kind: 'failover',
    key: names.size > 1 ? `${scope}@${names.get(number) ?? number}` : scope,
    severity: scope === '*' ? 'burning' : 'daily',
    text: [
      `${scope === '*' ? 'All mail' : `Mail to ${scope}`} goes by the smart hosts: the direct way does not work${names.size > 1 ? ` (on ${names.get(number) ?? number})` : ''}`,
      why,
      'It returns by itself when the direct way works again.',
    ],
    fix: ['posthorn failover status', 'posthorn doctor'],
  }))
}

/** One row tells whether there is any; the count is shown where somebody looks. */
async function held(read: Read): Promise<Raised[]> {
  const row = await read
    .selectFrom('queue')
    .select('held_reason')
    .where('held_at', 'is not', null)
    .limit(1)
    .executeTakeFirst()
  if (row === undefined) return []
  return [
    {
      kind: 'held',
      key: 'queue',
      severity: 'daily',
      text: [
        'Mail is held until somebody decides',
        `The reason for one of them: ${row.held_reason ?? ''}`,
      ],
      fix: ['posthorn queue held', "'posthorn queue release' sends it, 'queue fail' discards it"],
    },
  ]
}

/**
 * Such a plan was given to an account after the start had read the plans, as by a command that found no appliance to
 * ask.
 */
async function unknownPlans({ store, plans }: ConditionDeps): Promise<Raised[]> {
  const unknown = await findUnknownPlans(store.read, plans)
  return unknown.map(({ accountId, missing }) => ({
    kind: 'plan',
    key: accountId,
    severity: 'burning',
    text: [
      'An account has a plan that this appliance has not read',
      `Account ${accountId}: ${missing.join(', ')}. Until it is read the caps are those of an account without a plan of its own.`,
    ],
    fix: [
      'posthorn config check',
      'sudo systemctl restart posthorn',
      `or 'posthorn account set-plan ${accountId}' with one of 'posthorn plan list'`,
    ],
  }))
}
