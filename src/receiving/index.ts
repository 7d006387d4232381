import type { Plans } from '../billing/index.js'
import type { Clock } from '../clock/index.js'
import type { ApplianceKey } from '../config/index.js'
import type { StreamDue } from '../deliveries/index.js'
import type { Resolver } from '../dns/index.js'
import type { InsertDeps } from '../emails/index.js'
import type { Log } from '../log/index.js'
import type { Meter } from '../metrics/index.js'
import type { Store } from '../store/index.js'
import { makeWriteReceived, prepareReceived, type ReceivedArrival } from './arrive.js'
import { openDesk } from './desk.js'
import { makeForwarder } from './forward.js'
import { makeMailReader } from './reader.js'
import { makeRefusedTally, type RefusedWhy } from './refused.js'
import { type JudgedMail, makeSpamFilter } from './rspamd.js'
import type { SpamMark } from './shown.js'
import { makeTaking, type Taking } from './taking.js'

/**
 * Mail that comes in for accounts: rules decide for whom it is taken; it is read; and it goes to webhooks, to another
 * address or only to the store. What must hold: mail that no rule is about is refused before it is sent, and nothing is
 * ever answered with a mail; the final dot is answered after the commit; a mail that hurts its reader is kept all the
 * same; no account sees another's. See README.md.
 */
export { adoptReceived } from './adopt-received.js'
export {
  receivedAnswer,
  receivedMailAnswer,
  shownChange,
  shownRule,
  whereAnswer,
} from './answers.js'
export type { ReceivedArrival } from './arrive.js'
export { receivedSource } from './bytes.js'
export { deleteReceived, removeReceived } from './delete.js'
export {
  byRuleWords,
  findReceived,
  findReceivedFile,
  isFailed,
  listReceived,
  notForwarded,
  type ReceivedFilter,
  receivedByRule,
  receivedFrom,
} from './mails.js'
export { type RefusedArrivals, refusedLately, refusedWords } from './refused.js'
export { addressIn, type ReceivingAction, type ReceivingRule, receivingActions } from './rule.js'
export {
  addRule,
  changeRule,
  deleteRule,
  findRule,
  listRules,
  type MovedRule,
  type NewRule,
} from './rules.js'
export { type ReceivedMailSummary, receivedStates } from './shown.js'
export { whyNotTaken, withEmptyLine } from './sound-lines.js'
export { postmaster, type TakenFor, type Taking } from './taking.js'
export { announceRefused } from './tell-refused.js'
export { usageAnswer } from './usage.js'

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
  /** This appliance's name, and all names of its own. */
  mta: string
  hosts: readonly string[]
  limits: { mails: number; bytes: number }
  /** The spam filter; without a URL there is none. */
  rspamd: { url: string; timeout: number }
}

export interface Receiving {
  /** The answer to RCPT; undefined where no account receives at that host. Both arguments in lower case. */
  decide(local: string, host: string): Promise<Taking | undefined>
  /** The spam filter's answer; undefined: there is no filter, or it has not answered in time. */
  judge(mail: JudgedMail): Promise<SpamMark | undefined>
  /** Resolves once the mail is on disk, or with what is full; then nothing was kept. */
  keep(arrival: ReceivedArrival): Promise<'kept' | 'reader full' | 'mailbox full'>
  /** A limit of an account's plan had a mail refused, elsewhere than in `decide` and `keep`. */
  refused(accountId: string, why: RefusedWhy): void
  /** Mails of another appliance were taken over. */
  readAnew(): void
  close(): Promise<void>
}

/** Opens everything that takes mail for accounts, except the listener. */
export async function openReceiving(deps: ReceivingDeps): Promise<Receiving> {
  const { store, clock, log } = deps
  const reader = makeMailReader(deps)
  const desk = await openDesk({ ...deps, reader, forwarder: makeForwarder(deps) })
  const write = makeWriteReceived(store)
  const refused = makeRefusedTally(deps)
  const { url, timeout: timeoutMs } = deps.rspamd
  return {
    judge: url === '' ? async () => undefined : makeSpamFilter(deps, { url, timeoutMs }),
    decide: makeTaking({ ...deps, refused: refused.note }),
    refused: refused.note,
    async keep(arrival) {
      const { taken, remoteAddress, raw } = arrival
      if (!desk.hasRoom(remoteAddress, raw.length * taken.length)) return 'reader full'
      const ids = taken.map(() => store.ids.uuid())
      const given = prepareReceived(arrival, ids, clock.now())
      const mails = given.rows.map((row) => ({
        id: row.id,
        remoteAddress,
        bytes: raw.length,
        row,
        raw,
      }))
      desk.expect(mails)
      try {
        const full = await write(given)
        if (full !== undefined) {
          refused.note(full.accountId, full.within)
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
    async close() {
      await desk.close()
      await refused.close()
    },
  }
}
