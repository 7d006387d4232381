import type { Clock } from '../clock/index.js'
import type { Config } from '../config/index.js'
import type { Log } from '../log/index.js'
import type { Meter } from '../metrics/index.js'
import { announceOnce, countPaused, highestRates } from '../protection/index.js'
import type { Store } from '../store/index.js'
import type { Chore } from './housekeeping.js'

interface Deps {
  store: Store
  clock: Clock
  log: Log
  config: Config
  meter: Meter
}

/** What account protection does besides counting; the counting happens where events land. */
export function protectionChores(deps: Deps): Chore[] {
  const { store, clock, config, meter } = deps
  const { protection: settings } = config
  return [
    {
      name: 'notices of protection',
      of: 'chores',
      everyMs: 5_000,
      rests: true,
      run: (signal) => announceOnce({ store, clock, log: deps.log, settings }, signal),
    },
    {
      name: 'gauges of protection',
      of: 'node',
      everyMs: 30_000,
      rests: true,
      async run() {
        const paused = await countPaused(store.read)
        meter.gauge('posthorn_accounts_paused', { mail: 'all' }, paused.all)
        meter.gauge('posthorn_accounts_paused', { mail: 'marketing' }, paused.marketing)
        const { bounce, complaint } = await highestRates(store.read, { now: clock.now(), settings })
        meter.gauge('posthorn_highest_bounce_ratio', {}, bounce)
        meter.gauge('posthorn_highest_complaint_ratio', {}, complaint)
      },
    },
  ]
}
