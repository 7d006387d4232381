import { type AuditLogRow, preparedInsert, type Tx } from '../store/index.js'

/** Who acts, and by which way. */
export interface Actor {
  kind: AuditLogRow['actor']
  userId: string | null
  /** The actor's present name: a mail address, a user of the system, the name of a key. */
  name: string
  clientAddressKey: string | null
}

/** What was changed. */
export interface Change {
  actor: Actor
  /** Null: the change is of the appliance. */
  accountId: string | null
  /** What was done: `keys.create`, `posthorn key create`, `POST /v1/keys`. */
  action: string
  /** What was changed: an id, a name. */
  target?: string | null
  /** What else matters about the change; never a secret. */
  detail?: Readonly<Record<string, unknown>>
  at: number
}

// People read the rows; a longer text is no name of anything.
const longest = 500
const longestDetail = 8_000

/** Notes a change, in the transaction that makes it. */
export async function noteAudit(tx: Tx, change: Change): Promise<void> {
  const { actor, accountId, action, target = null, detail = {}, at } = change
  await insert(tx, {
    at,
    account_id: accountId,
    user_id: actor.userId,
    actor: actor.kind,
    name: actor.name.slice(0, longest),
    action: action.slice(0, longest),
    target: target?.slice(0, longest) ?? null,
    detail: detailJson(detail),
    address_key: actor.clientAddressKey,
  })
}

const insert = preparedInsert('audit_log')

/** The detail as JSON. If that is too long, its long texts and lists are cut, the longest first, and say so. */
function detailJson(detail: Readonly<Record<string, unknown>>): string {
  let json = JSON.stringify(detail)
  for (const [chars, items] of cuts) {
    if (json.length <= longestDetail) return json
    json = JSON.stringify(detail, (_, value: unknown) => {
      if (typeof value === 'string' && value.length > chars) return `${value.slice(0, chars)}…`
      if (!Array.isArray(value) || value.length <= items) return value
      return [...value.slice(0, items), `… and ${value.length - items} more`]
    })
  }
  return json.length <= longestDetail ? json : '{"cut":true}'
}

const cuts = [
  [2_000, 100],
  [500, 20],
  [100, 5],
] as const
