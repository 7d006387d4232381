import { enums, optional, type } from 'superstruct'
import type { Principal } from '../accounts/index.js'
import type { Clock } from '../clock/index.js'
import { described, QueryInteger, rule, Uuid } from '../fields/index.js'
import type { Api } from '../http/index.js'
import type { Store } from '../store/index.js'
import { readStats } from './answer.js'
import { maxLimit, questionOf } from './question.js'

const Text = rule<string>('a string', (value) => typeof value === 'string')
const StatsQuery = type({
  from: optional(Text),
  to: optional(Text),
  groupBy: optional(Text),
  domain: optional(Text),
  provider: optional(Text),
  tag: optional(Text),
  broadcastId: optional(Uuid),
  type: optional(described(enums(['transactional', 'marketing']), 'transactional or marketing')),
  limit: optional(QueryInteger(1, maxLimit)),
})

/** Figures over time. */
export function statsRoutes(
  api: Api<Principal>,
  { store, clock }: { store: Store; clock: Clock },
): void {
  api.get('/v1/stats', { query: StatsQuery }, async ({ account, query }) =>
    readStats(store.read, account.accountId, questionOf(query, clock.now())),
  )
}
