import { putOffOf } from '../../deliveries/index.js'
import { untriedMails } from '../../emails/index.js'
import type { Read } from '../../store/index.js'
import { type WaitingView, whyWaits } from '../emails/waiting.js'
import { type Moment, moment, plural } from '../format.js'
import type { OverviewDeps } from './deps.js'

/** What of an account has not left, and why. */
export interface WaitingNowView {
  /** In words: '1,200 deliveries wait for another attempt'. */
  facts: string[]
  /** The domains with the most of it, each by the delivery that waits longest. */
  gates: (WaitingView & { lane: string; count: string; href: string })[]
  nextScheduled: Moment | undefined
}

// Beyond it 'more than' is as good an answer.
const mostCounted = 10_000
const newestLooked = 500
const gatesShown = 3

export async function waitingNow(
  { store, gateOf }: Pick<OverviewDeps, 'store' | 'gateOf'>,
  { account, base, now }: { account: { id: string }; base: string; now: number },
): Promise<WaitingNowView> {
  const read: Read = store.read
  const [putOff, untried] = await Promise.all([
    putOffOf(read, account.id, { most: mostCounted, lanes: gatesShown }),
    untriedMails(read, account.id, { scheduled: mostCounted, newest: newestLooked }),
  ])
  const facts = [
    counted(putOff.deliveries, 'delivery put off or held', 'deliveries put off or held'),
    untried.inLine === newestLooked
      ? `More than ${plural(newestLooked, 'mail')} in line for their first attempt`
      : counted(
          untried.inLine,
          'mail in line for its first attempt',
          'mails in line for their first attempt',
        ),
    counted(untried.scheduled, 'mail scheduled', 'mails scheduled'),
  ]
  return {
    facts: facts.filter((fact) => fact !== undefined),
    gates: await Promise.all(
      putOff.lanes.map(async ({ lane, deliveries, first }) => ({
        ...(await whyWaits({ read, now, gateOf }, first)),
        ...{ lane, count: plural(deliveries, 'delivery').replace(/ys$/, 'ies') },
        href: `${base}/emails/${first.emailId}`,
      })),
    ),
    nextScheduled: untried.nextAt === null ? undefined : moment(untried.nextAt, now),
  }
}

function counted(count: number, one: string, many: string): string | undefined {
  if (count === 0) return undefined
  if (count > mostCounted) return `More than ${mostCounted.toLocaleString('en-GB')} ${many}`
  return `${count.toLocaleString('en-GB')} ${count === 1 ? one : many}`
}
