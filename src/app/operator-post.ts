import type { Clock } from '../clock/index.js'
import type { Config } from '../config/index.js'
import type { Backlog, StreamDue } from '../deliveries/index.js'
import { insertNotice } from '../emails/index.js'
import type { Log } from '../log/index.js'
import type { Store, Tx } from '../store/index.js'

export interface OperatorPostDeps {
  store: Store
  clock: Clock
  log: Log
  config: Config
  backlog: Backlog
  ring: (due: readonly StreamDue[]) => void
}

type Post = (tx: Tx, notice: { subject: string; text: string }) => Promise<void>

/** For the time of `tell`, a way to write to the operator from within a transaction. */
export async function withOperatorPost(
  { store, clock, log, config, backlog, ring }: OperatorPostDeps,
  tell: (post: Post) => Promise<void>,
): Promise<void> {
  const { notify: to, from } = config.operator
  const { retry } = config.outbound
  const posted: StreamDue[] = []
  const post: Post = async (tx, notice) => {
    if (to === '') return
    const now = clock.now()
    const due = await insertNotice({ store, retry }, tx, { ...notice, from, to, now })
    if (due !== undefined) posted.push(...due)
    else log.error({ to, from }, 'operator.notify gets no mail: no verified domain can send it')
  }
  try {
    await tell(post)
  } finally {
    backlog.change(posted.length)
    ring(posted)
  }
}
