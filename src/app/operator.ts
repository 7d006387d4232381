import { hostname } from 'node:os'
import { type Clock, isRecent, pause } from '../clock/index.js'
import type { Config } from '../config/index.js'
import { type Backlog, cancelWaiting, type StreamDue } from '../deliveries/index.js'
import { insertNotice } from '../emails/index.js'
import { messageOf, OperatorError } from '../errors/index.js'
import type { Log } from '../log/index.js'
import { holds } from '../nodes/index.js'
import {
  isNoticeKind,
  makeDelivery,
  makeEmergencyMemory,
  notice,
  noticeKinds,
  openNotices,
  type Raised,
  settled,
  type TellDeps,
  type TellSettings,
  tellBurning,
  type Way,
  watchTold,
} from '../notices/index.js'
import { type Store, sinceCommit, type Tx } from '../store/index.js'
import type { Observed } from './conditions.js'
import type { Chore } from './housekeeping.js'
import { isOwnNotice, ownShare } from './node-conditions.js'

export interface OperatorMailDeps {
  store: Store
  clock: Clock
  log: Log
  config: Config
  backlog: Pick<Backlog, 'change'>
  ring: (due: readonly StreamDue[]) => void
}

function tellSettings({ operator, jobs }: Config): TellSettings {
  const { silence, againAfter: againAfterMs, burningPerDay } = operator
  return { silence, againAfterMs, burningPerDay, zone: jobs.zone }
}

/** The host that speaks in subjects. */
export const hostOf = ({ outbound }: Config): string =>
  outbound.heloName.includes('.') ? outbound.heloName : hostname()

/** Stops the start where a silenced kind does not exist: the operator meant another one. */
export function refuseUnknownKinds({ operator }: Config): void {
  const unknown = operator.silence.find((kind) => !isNoticeKind(kind))
  if (unknown === undefined) return
  const known = Object.keys(noticeKinds).join(', ')
  throw new OperatorError(`operator.silence: there is no kind "${unknown}"; known: ${known}`)
}

/**
 * Calls `tell` with a `post` that reaches the operator by the queue. `tell` may write mails; the outbound threads hear
 * of them afterwards.
 */
export async function withOperatorPost<T>(
  { store, clock, log, config, backlog, ring }: OperatorMailDeps,
  tell: (deps: TellDeps) => Promise<T>,
): Promise<T> {
  const { notify: to, from } = config.operator
  const { retry } = config.outbound
  const posted: StreamDue[] = []
  const post: TellDeps['post'] = async (tx, mail) => {
    if (to === '') return undefined
    const now = clock.now()
    const made = await insertNotice({ store, retry }, tx, { ...mail, from, to, now })
    if (made !== undefined) posted.push(...made.due)
    else log.error({ to, from }, 'operator.notify gets no mail: no verified domain can send it')
    return made?.id
  }
  try {
    const settings = tellSettings(config)
    return await tell({ store, clock, log, settings, host: hostOf(config), post })
  } finally {
    backlog.change(posted.length)
    ring(posted)
  }
}

// Longer than any write that waits for another process (10 s).
const writeWithinMs = 30_000
const everyMs = 10_000
// How often the words of open troubles are brought up to date.
const renewMs = 600_000

/**
 * Watches what can be wrong at any moment and tells what burns. When the disk is full or the database is locked,
 * nothing can be written down: then memory keeps it, and it is told by ways that need neither.
 */
export function operatorChores(
  deps: OperatorMailDeps & {
    observe: () => Promise<Observed>
    ways: readonly Way[]
    /** The name of this node, where there are several. */
    nodeName?: string | undefined
  },
): Chore[] {
  const { store, clock, log, config, observe, ways } = deps
  const settings = tellSettings(config)
  // Notices are rows. While no row can be written, what burns is kept here and told by ways beside the queue.
  const memory = makeEmergencyMemory({ clock, log, settings, host: hostOf(config), ways })
  let isStuck = false
  const told = watchTold(store)
  const opened = sinceCommit(store, () => openNotices(store.read))
  const deliver = makeDelivery({
    store,
    clock,
    log,
    ways,
    afterMs: config.operator.relayAfter,
    isStuck: async () => isStuck,
    async withdraw(tx, emailId) {
      const rows = await tx
        .selectFrom('queue')
        .select('id')
        .where('email_id', '=', emailId)
        .execute()
      await cancelWaiting(
        tx,
        rows.map(({ id }) => id),
        clock.now(),
      )
    },
  })
  const work = async (seen: Observed) => {
    if (seen.fault !== undefined) throw new Error(seen.fault)
    await record(
      { ...deps, opened },
      seen,
      memory.size > 0 ? (tx) => memory.handOver(tx) : undefined,
    )
    // Handed over in the same write: what memory had is a row now, and is not told twice.
    memory.forget()
    if (!holds(store.node, 'chores')) return
    await withOperatorPost(deps, (tell) => tellBurning(tell, told))
    await deliver()
  }
  return [
    {
      name: 'what the operator is told',
      of: 'node',
      everyMs,
      async run() {
        const all = await observe()
        const { nodeName: name } = deps
        const seen = name === undefined ? all : ownShare(all, { store, name })
        isStuck = seen.raised.some(
          ({ kind, severity }) => kind === 'queue-stuck' && severity === 'burning',
        )
        const fault = await faultOf(clock, () => work(seen))
        if (fault === undefined) return
        const burning = seen.raised.filter(({ severity }) => severity === 'burning')
        memory.hold([...burning, databaseNotice(fault)])
        await memory.tell()
      },
    },
  ]
}

/** What kept `work` from being done in time; undefined when it was. */
async function faultOf(clock: Clock, work: () => Promise<void>): Promise<string | undefined> {
  const done = new AbortController()
  let fault: string | undefined = `The database took no write within ${writeWithinMs / 1_000} s`
  const working = work().then(
    () => {
      fault = undefined
    },
    (error: unknown) => {
      const { cause } = error instanceof Error ? error : { cause: undefined }
      fault = messageOf(cause ?? error)
    },
  )
  void working.then(() => done.abort())
  await pause(clock, writeWithinMs, done.signal)
  return fault
}

/** Kept in memory and sent by a relay, as it is the database that does not work. */
const databaseNotice = (fault: string): Raised => ({
  kind: 'database',
  key: 'posthorn.db',
  severity: 'burning',
  text: [
    'The database of Posthorn cannot be read or written',
    fault,
    'No mail is taken (503) and none is sent until it can. What was taken is on the disk.',
  ],
  fix: ['df -h; df -i', "journalctl -u posthorn --since '1 hour ago'", 'posthorn status'],
})

/** Writes what has changed since the last write; most of the time nothing has. */
async function record(
  {
    store,
    clock,
    nodeName,
    opened,
  }: Pick<OperatorMailDeps, 'store' | 'clock'> & {
    nodeName?: string | undefined
    opened: () => ReturnType<typeof openNotices>
  },
  { kinds, raised }: Observed,
  handOver: ((tx: Tx) => Promise<void>) | undefined,
): Promise<void> {
  const now = clock.now()
  const watched: readonly string[] = [...kinds, 'database']
  const open = (await opened()).filter(
    (one) => watched.includes(one.kind) && isOwnNotice(one, nodeName),
  )
  const isSame = ({ kind, key, severity, stage = '' }: Raised) =>
    open.some(
      (one) =>
        one.kind === kind &&
        one.key === key &&
        one.severity === severity &&
        one.stage === stage &&
        isRecent(one.lastAt, now, renewMs),
    )
  const changed = raised.filter((one) => !isSame(one))
  const gone = open.filter(
    ({ kind, key }) => !raised.some((one) => one.kind === kind && one.key === key),
  )
  if (changed.length + gone.length === 0 && handOver === undefined) return
  await store.write(async (tx) => {
    await handOver?.(tx)
    for (const one of changed) await notice(tx, { ...one, now })
    for (const { kind, key } of gone) {
      if (isNoticeKind(kind)) await settled(tx, { kind, key, now })
    }
  })
}
