import { countMessages } from '../sandbox/index.js'
import type { DashboardDeps } from './deps.js'
import { plural } from './format.js'

export interface HomeView {
  title: string
  sandbox: boolean
  /** What the appliance has at this moment, as label and value. */
  facts: { label: string; value: string }[]
}

// Counting a long queue to its end would take the listener's time.
const mostCounted = 10_000

/** The front page: is it up, in which mode, and how much waits. */
export async function homeView({ store, sandbox }: DashboardDeps): Promise<HomeView> {
  const { read } = store
  const domains = await read.selectFrom('domains').select('status').limit(mostCounted).execute()
  const verified = domains.filter(({ status }) => status === 'verified').length
  const { waiting } = await read
    .selectFrom((sub) =>
      sub
        .selectFrom('queue')
        .select('id')
        .limit(mostCounted + 1)
        .as('some'),
    )
    .select((count) => count.fn.countAll<number>().as('waiting'))
    .executeTakeFirstOrThrow()
  const facts = [
    {
      label: 'Sending domains',
      value: domains.length === 0 ? 'none yet' : `${verified} of ${domains.length} verified`,
    },
    {
      label: 'Waiting to leave',
      value:
        waiting > mostCounted
          ? `more than ${plural(mostCounted, 'mail')}`
          : plural(waiting, 'mail'),
    },
  ]
  if (sandbox) {
    const count = await countMessages(store)
    facts.push({ label: 'In the sandbox inbox', value: plural(count, 'message') })
  }
  return { title: 'Posthorn', sandbox, facts }
}
