import { markChanged } from '../../changes/index.js'
import { type ConsentEvent, consentSince } from '../../consent/index.js'
import type { Tx } from '../../store/index.js'
import { idsIn } from '../../store/index.js'
import { keepOrigins } from '../history.js'
import { addToCount, type ContactDeps } from '../list.js'
import { deleteListless } from '../remove.js'
import { readProgress } from './progress.js'

/** The import that is undone. */
interface Undone {
  taskId: number
  accountId: string
  listId: string
  importId: number
  /** The last row of the consent record before it began, where that is known. */
  consentBefore: number | undefined
}

// How many members are looked at, and how many one transaction takes off.
const perLook = 2_000
const perWrite = 200

/**
 * Takes some of the people whom an import brought off its list, those after a contact's id. People who are then on no
 * list, and were not known before their row, are deleted. People stay if somebody has changed them since, or if they
 * have agreed or chosen topics since. Resolves with where to go on; undefined: that was all.
 */
export async function undoSlice(
  { store, clock }: ContactDeps,
  undone: Undone,
  after: string,
): Promise<string | undefined> {
  const { listId, importId } = undone
  const members = await store.read
    .selectFrom('list_members')
    .select(['contact_id', 'import_id'])
    .where('list_id', '=', listId)
    .where('contact_id', '>', after)
    .orderBy('contact_id')
    .limit(perLook)
    .execute()
  const brought = members.filter((one) => one.import_id === importId).slice(0, perWrite)
  const ids = brought.map(({ contact_id: id }) => id)
  if (ids.length > 0)
    await store.write((tx) => takeOff(tx, undone, ids, clock.now()), undone.accountId)
  if (brought.length === perWrite) return ids.at(-1)
  return members.length < perLook ? undefined : members.at(-1)?.contact_id
}

async function takeOff(tx: Tx, undone: Undone, given: readonly string[], now: number) {
  const { taskId, accountId, listId, importId } = undone
  const brought = await tx
    .selectFrom('list_members')
    .innerJoin('contacts', 'contacts.id', 'list_members.contact_id')
    .select(['contacts.id', 'address', 'created_at', 'changed_at', 'added_at'])
    .where('list_id', '=', listId)
    .where('contact_id', 'in', idsIn(given, 'text'))
    .where('import_id', '=', importId)
    .execute()
  const agreed = await agreedSince(tx, undone, brought)
  const gone = brought.filter((one) => !isChanged(one) && !agreed.has(one.address))
  const ids = gone.map(({ id }) => id)
  const fresh = gone.filter(isFresh).map(({ id }) => id)
  await keepOrigins(tx, listId, ids)
  const taken = await tx
    .deleteFrom('list_members')
    .where('list_id', '=', listId)
    .where('contact_id', 'in', idsIn(ids, 'text'))
    .where('import_id', '=', importId)
    .returning('contact_id')
    .execute()
  await addToCount(tx, listId, -taken.length, now)
  await markChanged(tx, accountId, ids)
  await deleteListless(tx, accountId, fresh, now)
  const { result } = await readProgress(tx, taskId)
  const counts = {
    undone: (result.undone ?? 0) + taken.length,
    kept: (result.kept ?? 0) + brought.length - taken.length,
  }
  await tx
    .updateTable('tasks')
    .set({ result: JSON.stringify({ ...result, ...counts }) })
    .where('id', '=', taskId)
    .execute()
}

interface Brought {
  address: string
  created_at: number
  changed_at: number | null
  added_at: number
}

/** People who became contacts by the import have its time; those who were known before do not. */
const isFresh = ({ created_at, added_at }: Brought): boolean => created_at === added_at

/**
 * An import's own rows are no changes, so for a new person every change is a later one, whatever the clock said then.
 */
const isChanged = (one: Brought): boolean =>
  one.changed_at !== null && (isFresh(one) || one.changed_at > one.added_at)

/**
 * The addresses that have agreed to mail in another way since, or chosen topics; by the order of rows where it is
 * known.
 */
async function agreedSince(
  tx: Tx,
  { accountId, listId, consentBefore }: Undone,
  brought: readonly Brought[],
): Promise<Set<string>> {
  const addedAt = new Map(brought.map(({ address, added_at }) => [address, added_at]))
  const events = await consentSince(tx, accountId, [...addedAt.keys()], consentBefore ?? 0)
  const isSince = ({ address, at }: { address: string; at: number }) =>
    consentBefore !== undefined || at > (addedAt.get(address) ?? 0)
  const agreed = events.filter((event) => isSince(event) && isAgreement(event, listId))
  return new Set(agreed.map(({ address }) => address))
}

/** Only coming to another list, without a word on how they agreed, does not count: they stay on that list alone. */
function isAgreement({ kind, detail }: ConsentEvent, listId: string): boolean {
  if (kind === 'lifted') return detail.by === 'recipient'
  if (kind !== 'added') return agreements.has(kind)
  return detail.note !== undefined || (detail.listId ?? listId) === listId
}

const agreements: ReadonlySet<string> = new Set([
  'confirmed',
  'signed_up',
  'left_topic',
  'returned_to_topic',
])
