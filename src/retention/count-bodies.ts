import { createHash } from 'node:crypto'
import { sql, type UpdateResult } from 'kysely'
import {
  cell,
  idsOf,
  mailNumber,
  prepared,
  preparedInsertAll,
  type Read,
  rowsOf,
  type Tx,
  wholeTo,
} from '../store/index.js'
import { type RetentionDeps, rest } from './slices.js'
import { type RetentionState, readState } from './state.js'
import { dropBodies } from './uses.js'

/*
 * Counts how many mails have each body, and merges equal bodies of an account. This runs after the acceptance:
 * a hash and a look-up a mail would cost it more than the rest of its row (25 µs a page of an index by hash, as
 * for `recipient_index`). A body is hashed once; only counted bodies are ever deleted.
 */
const mailsAWrite = 200
// The mails of one request share a body. They are written in one transaction, in sequence with the
// same time, and are never more than this.
const mostOfARequest = 100

/**
 * Counts the present mails, or until `signal` stops it. Mails that come meanwhile are left to the next run:
 * under load there would always be more, and nothing would ever be deleted.
 */
export async function countBodies(deps: RetentionDeps, signal: AbortSignal): Promise<number> {
  let merged = 0
  const newest = await newestMail(deps.store.read)
  for (let more = true; more && !signal.aborted; ) {
    const began = deps.clock.now()
    const slice = await countNextBodies(deps)
    more = slice.more && slice.through < newest
    merged += slice.merged
    await rest(deps.clock, deps.clock.now() - began, signal)
  }
  return merged
}

/**
 * Counts the next mails in one transaction with the cursor, so that each is counted once, wherever the
 * process dies.
 */
export async function countNextBodies({
  store,
}: Pick<RetentionDeps, 'store'>): Promise<{ more: boolean; through: number; merged: number }> {
  const from = await readState(store.read)
  const { mails, more, isWhole } = await nextMails(store.read, from)
  const last = mails.at(-1)
  if (last === undefined) return { more: false, through: from.mail_number, merged: 0 }
  const bodies = await bodiesOf(store.read, mails, isWhole)
  const merged = await store.write(async (tx) => {
    const { numUpdatedRows } = await tx
      .updateTable('retention_state')
      .set({ mail_number: last.number, mail_id: last.id })
      // Only if the cursor is unchanged: another run may have counted these meanwhile.
      .where('mail_number', '=', from.mail_number)
      .where('mail_id', '=', from.mail_id)
      .executeTakeFirstOrThrow()
    return numUpdatedRows === 0n ? 0 : await count(tx, bodies)
  })
  return { more, through: last.number, merged }
}

/** The number of the mail that was accepted last. */
async function newestMail(read: Read): Promise<number> {
  const mail = await read
    .selectFrom('emails')
    .select(({ fn }) => fn.max(mailNumber).as('number'))
    .executeTakeFirst()
  return mail?.number ?? 0
}

/** A mail whose use of its body is counted now. */
interface CountedMail {
  number: number
  id: string
  accountId: string
  bodyId: number | null
  at: number
  /** 1 for mail of a campaign or an automation, whose body is its own. */
  shares: 0 | 1
}

/** Some mails after the cursor; `whole` if no later mail can have one of their bodies. */
async function nextMails(
  read: Read,
  { mail_number: from }: RetentionState,
): Promise<{ mails: CountedMail[]; more: boolean; isWhole: boolean }> {
  const limit = mailsAWrite + mostOfARequest
  const mails = await mailsAfter(read, { from, upTo: await wholeTo(read, 'emails'), limit })
  if (mails.length < limit) return { mails, more: false, isWhole: true }
  let end = mailsAWrite
  // Does not split the mails of one request, which may share a body.
  while (end < limit && mails[end]?.at === mails[end - 1]?.at) end++
  return { mails: mails.slice(0, end), more: true, isWhole: end < limit }
}

/** In the order of acceptance, by the table's own key. */
const mailsAfter = prepared<{ from: number; upTo: number; limit: number }, CountedMail>(
  (db, { from, upTo, limit }) =>
    db
      .selectFrom('emails')
      .select([mailNumber.as('number'), 'id', 'account_id as accountId', 'body_id as bodyId'])
      .select(['created_at as at'])
      .select(sql<0 | 1>`(broadcast_id is not null or automation_step_id is not null)`.as('shares'))
      .where(mailNumber, '>', from)
      .where(mailNumber, '<=', upTo)
      .orderBy(mailNumber)
      .limit(limit),
)

/** A body with its mails among these. `hash` is null if it may not be merged with another. */
interface CountedBody {
  id: number
  mails: string[]
  hash: string | null
}

/**
 * The mails' bodies; each is read and hashed singly, as it may have megabytes. A body that may have
 * earlier or later mails gets no hash, and so is never merged.
 */
async function bodiesOf(
  read: Read,
  mails: readonly CountedMail[],
  isWhole: boolean,
): Promise<CountedBody[]> {
  const bodies = new Map<number, CountedBody>()
  const ids = JSON.stringify([...new Set(mails.map(({ bodyId }) => bodyId))])
  const before = new Set((await countedAmong(read, { ids })).map(({ id }) => id))
  for (const { id: emailId, bodyId, accountId, shares } of mails) {
    if (bodyId === null) continue
    const known = bodies.get(bodyId)
    if (known !== undefined) {
      known.mails.push(emailId)
      continue
    }
    const isAlone = isWhole && !shares && !before.has(bodyId)
    const hash = isAlone ? await hashOf(read, accountId, bodyId) : null
    bodies.set(bodyId, { id: bodyId, mails: [emailId], hash })
  }
  return [...bodies.values()]
}

/** The bodies that are already counted, because earlier mails have them. */
const countedAmong = prepared<{ ids: string }, { id: number }>((db, { ids }) =>
  db.selectFrom('body_uses').select('body_id as id').where('body_id', 'in', idsOf(ids, 'integer')),
)

/** A hash that is equal for equal bodies of one account; null if the body is already gone. */
async function hashOf(read: Read, accountId: string, id: number): Promise<string | null> {
  const [body] = await bodyOf(read, { id })
  if (body === undefined) return null
  // The account is in it: two accounts never share a body.
  const hash = createHash('sha256').update(accountId)
  for (const part of [body.html, body.text, body.attachments]) {
    // With its length, so that no part can be confused with the beginning of the next.
    hash.update(part === null ? '\0-' : `\0${Buffer.byteLength(part)}\0`)
    if (part !== null) hash.update(part)
  }
  return hash.digest('base64url')
}

/** The whole content of a body. */
interface BodyText {
  html: string | null
  text: string | null
  attachments: string | null
}

const bodyOf = prepared<{ id: number }, BodyText>((db, { id }) =>
  db.selectFrom('bodies').select(['html', 'text', 'attachments']).where('id', '=', id),
)

/**
 * Counts bodies; mails whose body the account already has get that one. Resolves with how many bodies
 * were deleted.
 */
async function count(tx: Tx, bodies: readonly CountedBody[]): Promise<number> {
  const hashes = JSON.stringify(bodies.flatMap(({ hash }) => hash ?? []))
  const known = new Map((await withHash(tx, { hashes })).map(({ id, hash }) => [hash, id]))
  const uses = new Map<number, { uses: number; hash: string | null }>()
  const moved: [emailId: string, bodyId: number][] = []
  const doubles: number[] = []
  for (const { id, mails, hash } of bodies) {
    const same = hash === null ? undefined : known.get(hash)
    const kept = same ?? id
    uses.set(kept, { hash, uses: (uses.get(kept)?.uses ?? 0) + mails.length })
    if (hash !== null) known.set(hash, kept)
    if (kept === id) continue
    moved.push(...mails.map((emailId): [string, number] => [emailId, kept]))
    doubles.push(id)
  }
  await addUses(
    tx,
    [...uses].map(([body_id, { uses, hash }]) => ({ body_id, uses, hash })),
  )
  if (moved.length === 0) return 0
  await moveMails(tx, { json: JSON.stringify(moved) })
  await dropBodies(tx, await attachmentsIn(tx, { ids: JSON.stringify(doubles) }))
  return doubles.length
}

/** Counted bodies that have one of these hashes. */
const withHash = prepared<{ hashes: string }, { id: number; hash: string }>((db, { hashes }) =>
  db
    .selectFrom('body_uses')
    .select((eb) => ['body_id as id', eb.ref('hash').$notNull().as('hash')])
    .where('hash', 'in', idsOf(hashes, 'text')),
)

/** Adds to the counts, or creates them. */
const addUses = preparedInsertAll('body_uses', (insert) =>
  insert.onConflict((conflict) =>
    conflict
      .column('body_id')
      .doUpdateSet((eb) => ({ uses: eb('body_uses.uses', '+', eb.ref('excluded.uses')) })),
  ),
)

/** Gives mails the kept body. */
const moveMails = prepared<{ json: string }, UpdateResult>((db, { json }) =>
  db
    .updateTable('emails')
    .from(rowsOf(json))
    .set({ body_id: cell(1, 'integer') })
    .where('emails.id', '=', cell(0, 'text')),
)

const attachmentsIn = prepared<{ ids: string }, { id: number; attachments: string | null }>(
  (db, { ids }) =>
    db.selectFrom('bodies').select(['id', 'attachments']).where('id', 'in', idsOf(ids, 'integer')),
)
