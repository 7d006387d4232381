import { listPage } from '../../contacts/index.js'
import { type Moment, moment } from '../format.js'
import { type PageAnswer, page } from '../shell/answer.js'
import type { Visit } from '../shell/visit.js'
import type { ListPageDeps } from './deps.js'

/** A page of the account's lists. */
interface ListsView {
  base: string
  accountId: string
  mayWrite: boolean
  lists: { name: string; page: string; people: number; made: Moment }[]
  newer: string | undefined
  older: string | undefined
}

const pageSize = 50

/** The lists, the newest first. */
export async function showLists(
  { store: { read } }: ListPageDeps,
  visit: Visit,
): Promise<PageAnswer> {
  const { account, base, query, now } = visit
  const cursor = query.get('after') ?? undefined
  const found = await listPage(read, account.id, { cursor, limit: pageSize })
  const view: ListsView = {
    base,
    accountId: account.id,
    mayWrite: visit.may('contacts.write'),
    lists: found.page.map(({ id, name, contactCount, createdAt }) => ({
      name,
      page: `${base}/lists/${id}`,
      people: contactCount,
      made: moment(createdAt, now),
    })),
    newer: cursor === undefined ? undefined : `${base}/lists`,
    older: found.nextCursor === null ? undefined : `${base}/lists?after=${found.nextCursor}`,
  }
  return page('lists/list', view, { title: 'Lists' })
}
