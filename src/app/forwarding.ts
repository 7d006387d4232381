import type { Clock } from '../clock/index.js'
import type { Config } from '../config/index.js'
import type { Backlog, StreamDue } from '../deliveries/index.js'
import { insertNotice } from '../emails/index.js'
import { makeForwarding } from '../inbound/index.js'
import type { Log } from '../log/index.js'
import type { Store } from '../store/index.js'
import type { Chore } from './housekeeping.js'

interface Deps {
  store: Store
  clock: Clock
  log: Log
  config: Config
  backlog: Backlog
  ring: (due: readonly StreamDue[]) => void
}

/** Mail to postmaster@ and abuse@ goes on to `inbound.forward_to`, through the appliance itself. */
export function forwardingChores({ store, clock, log, config, backlog, ring }: Deps): Chore[] {
  const { forwardTo: to } = config.inbound
  if (to === '') return []
  const { from } = config.operator
  const { retry } = config.outbound
  let posted: StreamDue[] = []
  const forward = makeForwarding({
    store,
    clock,
    log,
    async post(tx, mail) {
      const made = await insertNotice({ store, retry }, tx, { ...mail, from, to, now: clock.now() })
      if (made !== undefined) posted.push(...made.due)
      else log.error({ to }, 'inbound.forward_to gets no mail: no verified domain can send it')
    },
  })
  const run = async (signal: AbortSignal) => {
    try {
      await forward(signal)
    } finally {
      backlog.change(posted.length)
      ring(posted)
      posted = []
    }
  }
  return [{ name: "the operator's mail", of: 'chores', everyMs: 5_000, rests: true, run }]
}
