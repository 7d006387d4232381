import type { LoggedChange } from '../../audit/index.js'
import { listRules } from '../../receiving/index.js'
import type { Read } from '../../store/index.js'
import { changeInWords } from './words.js'

/** What a thing is called now, and its page if it has one. */
export interface NamedThing {
  name: string
  path?: string
}

type Named = { id: string; account_id: string; name: string; path?: string }

/**
 * The things that rows of the log are about, if they still exist, by account and the id or name in the log. There is
 * one query for each kind among them, each by a key.
 */
export async function namesOf(
  read: Read,
  changes: readonly LoggedChange[],
): Promise<(change: LoggedChange) => NamedThing | undefined> {
  const targets = new Map<string, Set<string>>()
  for (const change of changes) {
    const { thing, target } = changeInWords(change)
    if (target === undefined || lookUp[thing] === undefined) continue
    targets.set(thing, (targets.get(thing) ?? new Set()).add(target))
  }
  const accounts = [...new Set(changes.flatMap(({ accountId }) => accountId ?? []))]
  const found = new Map<string, NamedThing>()
  for (const [thing, wanted] of targets) {
    for (const one of (await lookUp[thing]?.(read, [...wanted], accounts)) ?? []) {
      const { id, account_id, name, path } = one
      found.set(`${thing} ${account_id} ${id}`, {
        name,
        ...(path && { path: `/a/${account_id}${path}` }),
      })
    }
  }
  return (change) => {
    const { thing, target } = changeInWords(change)
    return found.get(`${thing} ${change.accountId} ${target}`)
  }
}

type LookUp = (read: Read, targets: string[], accounts: string[]) => Promise<Named[]>

/** How each kind of thing that has an id or a page is looked up. */
const lookUp: Record<string, LookUp> = {
  automation: async (read, ids) =>
    await read
      .selectFrom('automations')
      .select(['id', 'account_id', 'name'])
      .where('id', 'in', ids)
      .execute(),
  broadcast: async (read, ids) =>
    await read
      .selectFrom('broadcasts')
      .select((eb) => ['id', 'account_id', eb.fn.coalesce('name', 'subject').as('name')])
      .where('id', 'in', ids)
      .execute(),
  list: async (read, ids) =>
    await read
      .selectFrom('contact_lists')
      .select(['id', 'account_id', 'name'])
      .where('id', 'in', ids)
      .execute(),
  contact: async (read, ids) =>
    withPath(
      await read
        .selectFrom('contacts')
        .select(['id', 'account_id', 'email as name'])
        .where('id', 'in', ids)
        .execute(),
      ({ id }) => `/contacts/${id}`,
    ),
  topic: async (read, ids) =>
    await read
      .selectFrom('topics')
      .select(['id', 'account_id', 'name'])
      .where('id', 'in', ids)
      .execute(),
  field: async (read, ids) =>
    withPath(
      await read
        .selectFrom('contact_fields')
        .select(['id', 'account_id', 'label as name'])
        .where('id', 'in', ids)
        .execute(),
      ({ id }) => `/fields/${id}`,
    ),
  picture: async (read, ids) =>
    withPath(
      await read
        .selectFrom('pictures')
        .select(['id', 'account_id', 'name'])
        .where('id', 'in', ids)
        .execute(),
      ({ id }) => `/pictures/${id}`,
    ),
  key: async (read, ids) =>
    withPath(
      await read
        .selectFrom('api_keys')
        .select(['id', 'account_id', 'name'])
        .where('id', 'in', ids)
        .execute(),
      ({ id }) => `/keys/${id}`,
    ),
  webhook: async (read, ids) =>
    withPath(
      await read
        .selectFrom('webhook_endpoints')
        .select(['id', 'account_id', 'url as name'])
        .where('id', 'in', ids)
        .execute(),
      ({ id }) => `/webhooks/${id}`,
    ),
  email: async (read, ids) =>
    withPath(
      await read
        .selectFrom('emails')
        .select(['id', 'account_id', 'subject as name'])
        .where('id', 'in', ids)
        .execute(),
      ({ id }) => `/emails/${id}`,
    ),
  receiving: async (read, ids, accounts) => {
    const rules = await Promise.all(accounts.map((account) => listRules(read, account)))
    return rules
      .flat()
      .flatMap(({ id, accountId, pattern }) =>
        ids.includes(id) ? [{ id, account_id: accountId, name: pattern, path: '/receiving' }] : [],
      )
  },
  template: async (read, slugs, accounts) =>
    withPath(
      await read
        .selectFrom('templates')
        .select(['slug as id', 'account_id', 'slug as name'])
        .where('account_id', 'in', accounts)
        .where('slug', 'in', slugs)
        .execute(),
      ({ id }) => `/templates/${id}`,
    ),
  // Pages and commands log a domain's name, the API its id.
  domain: async (read, targets, accounts) => {
    const rows = await read
      .selectFrom('domains')
      .select(['id', 'account_id', 'name'])
      .where('account_id', 'in', accounts)
      .where((eb) => eb.or([eb('id', 'in', targets), eb('name', 'in', targets)]))
      .execute()
    const path = ({ name }: Named) => `/domains/${name}`
    return [
      ...withPath(rows, path),
      ...withPath(
        rows.map((one) => ({ ...one, id: one.name })),
        path,
      ),
    ]
  },
}

const withPath = (rows: Named[], path: (row: Named) => string): Named[] =>
  rows.map((row) => ({ ...row, path: path(row) }))
