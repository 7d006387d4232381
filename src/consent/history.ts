import { idsIn, prepared, preparedInsert, type Read, type Tx } from '../store/index.js'

const consentKinds = [
  'added',
  'imported',
  'confirmed',
  'signed_up',
  'unsubscribed',
  'bounced',
  'complained',
  'suppressed',
  'left_topic',
  'returned_to_topic',
  'said_why',
  'changed_fields',
  'lifted',
] as const
export type ConsentKind = (typeof consentKinds)[number]

/** What is known beside kind, address and time; it depends on the kind. */
export interface ConsentDetail {
  /**
   * How it was said: `api`, `command`, `dashboard`, `recipient`, `operator`, `time`; `return`: by coming back to
   * another topic.
   */
  by?: string
  listId?: string
  /** The file in which an import found it. */
  file?: string
  line?: number
  /** The mail by which somebody left or came back, or that bounced. */
  emailId?: string
  topicId?: string
  /** What blocked the address until now. */
  reasons?: readonly string[]
  note?: string
  /** The labels of the fields that were changed. */
  fields?: readonly string[]
  /**
   * For a form: its id, the version of its text, the page that it was on, the client's IP address as the form keeps it,
   * and when the confirmation was asked for.
   */
  formId?: string
  version?: number
  page?: string
  address?: string
  askedAt?: number
  /** The lists that a confirmation was given for. */
  listIds?: readonly string[]
}

export interface ConsentEvent {
  at: number
  kind: ConsentKind
  detail: ConsentDetail
}

/** Adds a row to an address's record. */
export async function recordConsent(
  tx: Tx,
  accountId: string,
  email: string,
  { at, kind, detail }: ConsentEvent,
): Promise<void> {
  await insert(tx, {
    account_id: accountId,
    address: email.toLowerCase(),
    at,
    kind,
    detail: JSON.stringify(detail),
  })
}

const insert = preparedInsert('consent')

/** Everything recorded about an address, oldest first. */
export async function consentHistory(
  read: Read,
  accountId: string,
  email: string,
): Promise<ConsentEvent[]> {
  const rows = await recordOf(read, { accountId, address: email.toLowerCase() })
  return rows.map(({ at, kind, detail }) => ({
    at,
    kind: kindOf(kind),
    detail: JSON.parse(detail),
  }))
}

const recordOf = prepared<
  { accountId: string; address: string },
  { at: number; kind: string; detail: string }
>((db, { accountId, address }) =>
  db
    .selectFrom('consent')
    .select(['at', 'kind', 'detail'])
    .where('account_id', '=', accountId)
    .where('address', '=', address)
    .orderBy('id'),
)

/** What each address last wrote about why it left; only of those who wrote something. */
export async function wordsOfLeaving(
  read: Read,
  accountId: string,
  addresses: readonly string[],
): Promise<Map<string, string>> {
  const rows = await read
    .selectFrom('consent')
    .select(['id', 'address', 'detail'])
    .where('account_id', '=', accountId)
    .where('address', 'in', idsIn([...addresses], 'text'))
    .where('kind', '=', 'said_why' satisfies ConsentKind)
    .execute()
  const said = rows
    .toSorted((one, other) => one.id - other.id)
    .map(({ address, detail }): [string, string] => {
      const { note = '' }: ConsentDetail = JSON.parse(detail)
      return [address, note]
    })
  return new Map([...new Map(said)].filter(([, note]) => note !== ''))
}

/** The number of the last row of all accounts; 0: there is none. Every later row has a greater number. */
export async function lastConsentId(read: Read): Promise<number> {
  const last = await read
    .selectFrom('consent')
    .select('id')
    .orderBy('id', 'desc')
    .executeTakeFirst()
  return last?.id ?? 0
}

/** The rows about some addresses of an account that come after the row `after`, with the address in lower case. */
export async function consentSince(
  read: Read,
  accountId: string,
  emails: readonly string[],
  after: number,
): Promise<(ConsentEvent & { address: string })[]> {
  const keys = emails.map((email) => email.toLowerCase())
  const rows = await read
    .selectFrom('consent')
    .select(['address', 'at', 'kind', 'detail'])
    .where('account_id', '=', accountId)
    .where('address', 'in', idsIn(keys, 'text'))
    .where('id', '>', after)
    .execute()
  return rows.map(({ address, at, kind, detail }) => ({
    address,
    at,
    kind: kindOf(kind),
    detail: JSON.parse(detail),
  }))
}

function kindOf(stored: string): ConsentKind {
  const kind = consentKinds.find((known) => known === stored)
  if (kind === undefined) throw new Error(`A consent row has the unknown kind ${stored}`)
  return kind
}
