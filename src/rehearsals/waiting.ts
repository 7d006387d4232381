import { queueClass, type Read } from '../store/index.js'

/** What already waits for a site. */
export interface WaitingBefore {
  /** Mail of the same account, or of a higher class: it leaves first. */
  ahead: number
  /** Campaigns of other accounts: they and this one take turns. */
  beside: number
}

// The most that is counted for one domain; more takes longer than anybody looks ahead.
const mostCounted = 200_000

/** What waits for some domains, counted with the index of streams. */
export async function waitingFor(
  read: Read,
  { accountId, node, lanes }: { accountId: string; node: number; lanes: readonly string[] },
): Promise<WaitingBefore> {
  const found: WaitingBefore = { ahead: 0, beside: 0 }
  for (const lane of lanes) {
    const some = read
      .selectFrom('queue')
      .select(['class', 'account_id'])
      .where('node', '=', node)
      .where('lane', '=', lane)
      .limit(mostCounted)
      .as('some')
    const rows = await read
      .selectFrom(some)
      .select(({ fn }) => ['class', 'account_id', fn.countAll<number>().as('n')])
      .groupBy(['class', 'account_id'])
      .execute()
    for (const { class: of, account_id: whose, n } of rows) {
      const isBeside = of === queueClass.campaign && whose !== accountId
      found[isBeside ? 'beside' : 'ahead'] += n
    }
  }
  return found
}
