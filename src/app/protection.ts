import type { Clock } from '../clock/index.js'
import type { Config } from '../config/index.js'
import type { Backlog, StreamDue } from '../deliveries/index.js'
import { insertNotice } from '../emails/index.js'
import type { Log } from '../log/index.js'
import type { Meter } from '../metrics/index.js'
import { announceOnce, countPaused, forgetIdle, highestRates } from '../protection/index.js'
import type { Store, Tx } from '../store/index.js'
import type { Chore } from './housekeeping.js'

interface Deps {
  store: Store
  clock: Clock
  log: Log
  config: Config
  backlog: Backlog
  ring: (due: readonly StreamDue[]) => void
  meter: Meter
}

/** What account protection does beside the counting, which happens where events land. */
export function protectionChores(deps: Deps): Chore[] {
  const { store, clock, config, meter } = deps
  const { protection: settings } = config
  return [
    { name: 'notices of protection', everyMs: 5_000, run: (signal) => announce(deps, signal) },
    {
      name: 'gauges of protection',
      everyMs: 30_000,
      async run() {
        const paused = await countPaused(store.read)
        meter.gauge('posthorn_accounts_paused', { mail: 'all' }, paused.all)
        meter.gauge('posthorn_accounts_paused', { mail: 'marketing' }, paused.marketing)
        const { bounce, complaint } = await highestRates(store.read, { now: clock.now(), settings })
        meter.gauge('posthorn_highest_bounce_ratio', {}, bounce)
        meter.gauge('posthorn_highest_complaint_ratio', {}, complaint)
      },
    },
    {
      name: 'old counts of protection',
      everyMs: 600_000,
      run: () =>
        store.write((tx) => forgetIdle(tx, { now: clock.now(), windowMs: settings.window })),
    },
  ]
}

async function announce(deps: Deps, signal: AbortSignal): Promise<void> {
  const { store, clock, log, config, backlog, ring } = deps
  const { notify: to, from } = config.operator
  const { retry } = config.outbound
  const posted: StreamDue[] = []
  const post = async (tx: Tx, notice: { subject: string; text: string }) => {
    if (to === '') return
    const now = clock.now()
    const due = await insertNotice({ store, retry }, tx, { ...notice, from, to, now })
    if (due !== undefined) posted.push(...due)
    else log.error({ to, from }, 'operator.notify gets no mail: no verified domain can send it')
  }
  try {
    await announceOnce({ store, log, settings: config.protection, post }, signal)
  } finally {
    backlog.change(posted.length)
    ring(posted)
  }
}
