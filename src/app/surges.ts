import { forgetHandedIn } from '../billing/index.js'
import type { Clock } from '../clock/index.js'
import type { Config } from '../config/index.js'
import type { Backlog, StreamDue } from '../deliveries/index.js'
import { insertNotice } from '../emails/index.js'
import type { LandEvents } from '../events/index.js'
import { announceForms } from '../forms/index.js'
import type { Log } from '../log/index.js'
import { ownerAddresses } from '../people/index.js'
import { announceRefused } from '../receiving/index.js'
import type { Store } from '../store/index.js'
import { announceSurges, finishDecided, type SurgeSettings } from '../surges/index.js'
import type { Chore } from './housekeeping.js'

/** In the sandbox nothing leaves, and people who try Posthorn out send what they like. */
export const surgeSettings = ({ protection, outbound }: Config): SurgeSettings =>
  outbound.route === 'sandbox' ? { ...protection.surges, minimum: 0 } : protection.surges

interface Deps {
  store: Store
  clock: Clock
  log: Log
  config: Config
  backlog: Backlog
  land: LandEvents
  ring: (due: readonly StreamDue[]) => void
  /** Has the outbound threads look through the queue. */
  look: () => void
}

/** Tells of surges, and carries out what was decided about them. */
export function surgeChores(deps: Deps): Chore[] {
  const { store, clock, log, config, backlog, land, ring, look } = deps
  const { retry } = config.outbound
  const { from } = config.operator
  type Mail = Parameters<typeof announceSurges>[0]['mail']
  const posting = async (tell: (mail: Mail) => Promise<void>) => {
    const posted: StreamDue[] = []
    try {
      await tell(async (tx, to) => {
        const made = await insertNotice({ store, retry }, tx, { ...to, from, now: clock.now() })
        if (made !== undefined) posted.push(...made.due)
      })
    } finally {
      backlog.change(posted.length)
      ring(posted)
    }
  }
  return [
    {
      name: 'notices of surges',
      of: 'chores',
      everyMs: 5_000,
      rests: true,
      run: (signal) => posting((mail) => announceSurges({ store, clock, log, mail }, signal)),
    },
    {
      name: 'notices of refused mail',
      of: 'chores',
      everyMs: 10_000,
      rests: true,
      run: (signal) =>
        posting((mail) => announceRefused({ store, clock, ownerAddresses, mail }, signal)),
    },
    {
      name: 'notices of forms that became careful or stopped',
      of: 'chores',
      everyMs: 5_000,
      rests: true,
      run: (signal) => posting((mail) => announceForms({ store, ownerAddresses, mail }, signal)),
    },
    {
      name: 'surges that somebody has decided about',
      of: 'chores',
      everyMs: 1_000,
      rests: true,
      run: async (signal) =>
        (await finishDecided({ store, clock, log, land, look }, signal)) ? undefined : clock.now(),
    },
    {
      name: 'counts of hours and minutes that are over',
      of: 'chores',
      everyMs: 600_000,
      run: () => store.write((tx) => forgetHandedIn(tx, clock.now())),
    },
  ]
}
