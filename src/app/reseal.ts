import {
  acmeAccountPurpose,
  certificateFilePurpose,
  certificatePurpose,
} from '../certificates/index.js'
import { type ApplianceKey, keyCheckOf } from '../config/index.js'
import { sealPurpose } from '../domains/index.js'
import { OperatorError } from '../errors/index.js'
import { totpPurpose } from '../people/index.js'
import { type DatabasePlace, livingNodes, type Read, type Store, type Tx } from '../store/index.js'
import { webhookPurpose } from '../webhooks/index.js'

/*
 * After a rotation of the appliance key, every secret of the database is sealed anew. Each slice looks by itself which
 * of its rows need it, so after a kill nothing need be known: the next start goes through them again.
 */

/** A sealed value: of the row `id`, sealed for `of`. */
interface SealedRow {
  id: string
  of: string
  sealed: Buffer | null
}

/** A column of sealed values. */
interface SealedColumn {
  /** Some rows behind `after`, by the primary key. */
  next: (read: Read, after: string, limit: number) => Promise<SealedRow[]>
  purposeOf: (of: string) => string
  put: (tx: Tx, id: string, sealed: Buffer) => Promise<unknown>
}

/** A column of a table: its rows have the primary key `id`, and were sealed for the value in `of`. */
const columnOf = (
  {
    table,
    id = 'id',
    of = id,
    sealed,
  }: { table: string; id?: string; of?: string; sealed: string },
  purposeOf: SealedColumn['purposeOf'],
): SealedColumn => {
  // All of them are alike: the compiler takes each for this one.
  const [name, key] = [table as 'dkim_keys', id as 'id']
  return {
    next: (read, after, limit) =>
      read
        .selectFrom(name)
        .select([
          `${key} as id`,
          `${of as 'domain_id'} as of`,
          `${sealed as 'private_key'} as sealed`,
        ])
        .where(key, '>', after)
        .orderBy(key)
        .limit(limit)
        .execute(),
    purposeOf,
    put: (tx, row, value) =>
      tx
        .updateTable(name)
        .set({ [sealed as 'private_key']: value })
        .where(key, '=', row)
        .execute(),
  }
}

/** Every column that the key seals: a column missing here could not be read any more once the old key is gone. */
export const sealedColumns: Readonly<Record<string, SealedColumn>> = {
  'dkim_keys.private_key': columnOf(
    { table: 'dkim_keys', of: 'domain_id', sealed: 'private_key' },
    sealPurpose,
  ),
  'webhook_endpoints.secret': columnOf(
    { table: 'webhook_endpoints', sealed: 'secret' },
    webhookPurpose,
  ),
  'webhook_endpoints.old_secret': columnOf(
    { table: 'webhook_endpoints', sealed: 'old_secret' },
    webhookPurpose,
  ),
  'users.totp_secret': columnOf({ table: 'users', sealed: 'totp_secret' }, totpPurpose),
  'acme_accounts.key': columnOf(
    { table: 'acme_accounts', id: 'directory', sealed: 'key' },
    acmeAccountPurpose,
  ),
  'certificates.order_key': columnOf(
    { table: 'certificates', id: 'name', sealed: 'order_key' },
    certificatePurpose,
  ),
  'certificates.sealed': columnOf(
    { table: 'certificates', id: 'name', sealed: 'sealed' },
    certificateFilePurpose,
  ),
}

/** What a rotation has done. */
export interface Resealed {
  /** How many secrets were sealed anew. */
  resealed: number
  /** Secrets that no key of the ring opens: columns with how many. */
  unreadable: Record<string, number>
}

// A few milliseconds of writing for each slice.
const perSlice = 200

/**
 * Ends a rotation: the database belongs to the newest key, which has sealed every secret. Does nothing where there was
 * no rotation. Throws an `OperatorError` where the key of the database would change under another node that is alive.
 */
export async function finishRotation(
  {
    store,
    key,
    database,
    node,
  }: {
    store: Store
    key: ApplianceKey
    database: DatabasePlace
    /** The name of the node that starts, which has the database already. */
    node?: string | undefined
  },
  onSlice: () => void = () => {},
): Promise<Resealed> {
  const done: Resealed = { resealed: 0, unreadable: {} }
  if (key.checks.length === 1) return done
  const own = keyCheckOf(key)
  const known = await store.read.selectFrom('appliance').select('key_check').executeTakeFirst()
  if (known !== undefined && known.key_check !== own) {
    await refuseOthers(database, node)
    // First, because from now on another node that has only the old key does not start.
    await store.write((tx) => tx.updateTable('appliance').set({ key_check: own }).execute())
  }
  for (const [name, column] of Object.entries(sealedColumns)) {
    for (let after: string | undefined = ''; after !== undefined; ) {
      const from: string = after
      const slice = await store.write((tx) => resealSlice(tx, key, column, from))
      done.resealed += slice.resealed
      if (slice.unreadable > 0) {
        done.unreadable[name] = (done.unreadable[name] ?? 0) + slice.unreadable
      }
      after = slice.next
      onSlice()
    }
  }
  return done
}

/**
 * How many secrets there are, and whether a rotation was broken off: then secrets sealed by an older key wait for the
 * newest.
 */
export async function secretsNow(
  read: Read,
  key: ApplianceKey,
): Promise<{ secrets: number; isBrokenOff: boolean }> {
  const known = await read.selectFrom('appliance').select('key_check').executeTakeFirst()
  const isRing = key.checks.length > 1
  let isBrokenOff = isRing && known !== undefined && known.key_check !== keyCheckOf(key)
  let secrets = 0
  for (const { next, purposeOf } of Object.values(sealedColumns)) {
    for (let after: string | undefined = ''; after !== undefined; ) {
      const rows: SealedRow[] = await next(read, after, perSlice)
      for (const { of, sealed } of rows) {
        if (sealed === null || sealed.length === 0) continue
        secrets++
        const purpose = purposeOf(of)
        if (!isRing || isBrokenOff || key.isNewest(sealed, purpose)) continue
        // A rotation leaves a secret that no key opens as it is.
        isBrokenOff = opened(key, sealed, purpose) !== undefined
      }
      after = rows.length < perSlice ? undefined : rows.at(-1)?.id
    }
  }
  return { secrets, isBrokenOff }
}

/** One slice; `next` is undefined at the end. */
async function resealSlice(
  tx: Tx,
  key: ApplianceKey,
  { next, purposeOf, put }: SealedColumn,
  after: string,
) {
  const rows = await next(tx, after, perSlice)
  let [resealed, unreadable] = [0, 0]
  for (const { id, of, sealed } of rows) {
    const purpose = purposeOf(of)
    // Empty: the secret of a key that was forgotten.
    if (sealed === null || sealed.length === 0 || key.isNewest(sealed, purpose)) continue
    const plain = opened(key, sealed, purpose)
    if (plain === undefined) unreadable++
    else {
      await put(tx, id, key.seal(plain, purpose))
      resealed++
    }
  }
  return { resealed, unreadable, next: rows.length < perSlice ? undefined : rows.at(-1)?.id }
}

/** Undefined: no key of the ring has sealed it, so the rotation loses nothing. */
function opened(key: ApplianceKey, sealed: Buffer, purpose: string): string | undefined {
  try {
    return key.unseal(sealed, purpose)
  } catch {
    return undefined
  }
}

/**
 * Refuses while other nodes are alive: they have the old key in their memory, and seal by it. Throws an
 * `OperatorError`.
 */
export async function refuseOthers(database: DatabasePlace, own = ''): Promise<void> {
  const living = database.url === undefined ? [] : await livingNodes(database)
  const alive = living.map(({ name }) => name).filter((name) => name !== own)
  if (alive.length === 0) return
  throw new OperatorError(
    `The appliance key is one for all nodes, and ${alive.join(', ')} would go on with the old one: stop all nodes first (one that was killed is taken for alive for 10 seconds), rotate at one of them, and copy its appliance.key to the others before they start`,
  )
}
