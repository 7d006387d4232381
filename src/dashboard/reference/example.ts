import { pageOfAccounts } from '../../accounts/index.js'
import { dayMs, isoDay } from '../../clock/index.js'
import type { PageRequest } from '../../http/index.js'
import type { Store } from '../../store/index.js'
import type { People } from '../shell/people.js'

/** What finding a domain for the examples needs. */
export interface ExampleDeps {
  store: Pick<Store, 'read'>
  people: People
  sandbox: boolean
}

/**
 * A verified domain from which the reader can send, so that examples work as they stand: one of the reader's accounts,
 * or without a session that of the only account. Nobody is shown the domains of an account that is not theirs.
 */
export async function exampleDomain(
  { store: { read }, people, sandbox }: ExampleDeps,
  request: PageRequest,
): Promise<string | undefined> {
  const session = await people.sessionOf(request)
  const own = session === undefined ? [] : await people.membershipsOf(session.person.id)
  const accounts = own.map(({ accountId }) => accountId)
  if (accounts.length === 0) {
    const some = await pageOfAccounts(read, { limit: 2 })
    if (some.length === 1 || sandbox) accounts.push(...some.map(({ id }) => id))
  }
  if (accounts.length === 0) return undefined
  const row = await read
    .selectFrom('domains')
    .select('name')
    .where('account_id', 'in', accounts.slice(0, 50))
    .where('status', '=', 'verified')
    .orderBy('created_at')
    .limit(1)
    .executeTakeFirst()
  return row?.name
}

const weekMs = 7 * dayMs

/**
 * An example of the document as this appliance accepts it today: mail from `example.com` is sent from `domain`, and
 * scheduled mail is sent in a week.
 */
export function localized(value: unknown, domain: string | undefined, now: number): unknown {
  const soon = `${isoDay(now + weekMs)}T18:00:00Z`
  // Replaced in the text of the whole value, as times and domains stand at any depth.
  const text = JSON.stringify(value).replace(/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, `"${soon}"`)
  if (domain === undefined) return JSON.parse(text)
  return JSON.parse(text.replace(/(?<![\w.-])example\.com(?=[">\\])/g, domain))
}

/** A request as a command that can be pasted into a shell. */
export function curl(of: {
  method: string
  url: string
  key: boolean
  body?: string
  form?: boolean
}): string {
  const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
  return [
    `curl ${of.method === 'GET' ? '' : `-X ${of.method} `}${quote(of.url)}`,
    ...(of.key ? [`-H 'Authorization: Bearer YOUR_API_KEY'`] : []),
    // The only multipart request is the import of contacts.
    ...(of.form ? [`-F 'file=@people.csv;type=text/csv'`] : []),
    ...(of.body === undefined
      ? []
      : [`-H 'Content-Type: application/json'`, `-d ${quote(of.body)}`]),
  ].join(' \\\n  ')
}
