import type { Plans } from '../billing/index.js'
import type { Clock } from '../clock/index.js'
import type { ApplianceKey } from '../config/index.js'
import type { StreamDue } from '../deliveries/index.js'
import type { Resolver } from '../dns/index.js'
import type { InsertDeps } from '../emails/index.js'
import type { Log } from '../log/index.js'
import type { Meter } from '../metrics/index.js'
import type { Store } from '../store/index.js'
import { makeWriteReceived, type ReceivedArrival } from './arrive.js'
import { openDesk } from './desk.js'
import { makeForwarder } from './forward.js'
import { makeMailReader } from './reader.js'
import { type JudgedMail, makeSpamFilter } from './rspamd.js'
import type { SpamMark } from './shown.js'
import { makeTaking, type Taking } from './taking.js'

/**
 * Mail that comes in for accounts: for whom it is taken, by rules; what is read in it; and where it goes, to webhooks, to
 * another address or to the store alone. What must hold: what nobody's rule is about is refused before it is sent, and
 * nothing is ever answered with a mail; the final dot is answered after the commit; a mail that hurts its reader is kept
 * all the same; no account sees another's. See README.md.
 */
export { adoptReceived } from './adopt-received.js'
export { receivedAnswer, receivedMailAnswer, shownRule, whereAnswer } from './answers.js'
export type { ReceivedArrival } from './arrive.js'
export { receivedSource } from './bytes.js'
export { deleteReceived, removeReceived } from './delete.js'
export {
  findReceived,
  findReceivedFile,
  listReceived,
  type ReceivedFilter,
  receivedFrom,
} from './mails.js'
export { addressIn, type ReceivingAction, type ReceivingRule, receivingActions } from './rule.js'
export { addRule, changeRule, deleteRule, findRule, listRules, type NewRule } from './rules.js'
export { type ReceivedMailSummary, receivedStates } from './shown.js'
export { whyNotTaken, withEmptyLine } from './sound-lines.js'
export { postmaster, type TakenFor, type Taking } from './taking.js'

export interface ReceivingDeps {
  store: Store
  clock: Clock
  log: Log
  meter: Meter
  plans: Plans
  key: ApplianceKey
  resolver: Resolver
  retry: InsertDeps['retry']
  ring(due: readonly StreamDue[]): void
  /** The name of this appliance, and all that are its own. */
  mta: string
  hosts: readonly string[]
  limits: { mails: number; bytes: number }
  /** The spam filter; no URL: none. */
  rspamd: { url: string; timeout: number }
}

export interface Receiving {
  /** What RCPT is answered; undefined where no account receives at that host. Both in lower case. */
  decide(local: string, host: string): Promise<Taking | undefined>
  /** What the spam filter says; undefined: there is none, or it has not answered in time. */
  judge(mail: JudgedMail): Promise<SpamMark | undefined>
  /** Resolves once it is on disk, or with what is full, and nothing was kept. */
  keep(arrival: ReceivedArrival): Promise<'kept' | 'reader full' | 'mailbox full'>
  /** Mails of another appliance were taken over. */
  readAnew(): void
  close(): Promise<void>
}

/** Opens all that takes mail for accounts but the listener. */
export async function openReceiving(deps: ReceivingDeps): Promise<Receiving> {
  const { store, clock, log } = deps
  const reader = makeMailReader(deps)
  const desk = await openDesk({ ...deps, reader, forwarder: makeForwarder(deps) })
  const write = makeWriteReceived(store)
  const { url, timeout: timeoutMs } = deps.rspamd
  return {
    judge: url === '' ? async () => undefined : makeSpamFilter(deps, { url, timeoutMs }),
    decide: makeTaking(deps),
    async keep(arrival) {
      const { taken, remoteAddress, raw } = arrival
      if (!desk.hasRoom(remoteAddress, raw.length * taken.length)) return 'reader full'
      const ids = taken.map(() => store.ids.uuid())
      const mails = ids.map((id) => ({ id, remoteAddress, bytes: raw.length }))
      desk.expect(mails)
      try {
        if (!(await write({ arrival, ids, now: clock.now() }))) {
          desk.lost(mails)
          return 'mailbox full'
        }
      } catch (error) {
        desk.lost(mails)
        throw error
      }
      desk.arrived(mails)
      return 'kept'
    },
    readAnew: () =>
      void desk
        .readAnew()
        .catch((error: unknown) => log.error({ error }, 'Mail was not taken over')),
    close: () => desk.close(),
  }
}
