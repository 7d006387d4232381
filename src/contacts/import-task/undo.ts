import { markChanged } from '../../changes/index.js'
import type { Tx } from '../../store/index.js'
import { idsIn } from '../../store/index.js'
import { keepOrigins } from '../history.js'
import { addToCount, type ContactDeps } from '../list.js'
import { deleteListless } from '../remove.js'
import { readProgress } from './progress.js'

/** Which import is undone. */
interface Undone {
  taskId: number
  accountId: string
  listId: string
  importId: number
}

// Members that are looked at, and those that one transaction takes off.
const perLook = 2_000
const perWrite = 200

/**
 * Takes some of whom an import brought off its list, behind a contact's id; who is then on no list, and was not known
 * before their row, is deleted. Whom somebody has changed since stays. Resolves with where to go on; undefined: that was all.
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
  if (ids.length > 0) await store.write((tx) => takeOff(tx, undone, ids, clock.now()))
  if (brought.length === perWrite) return ids.at(-1)
  return members.length < perLook ? undefined : members.at(-1)?.contact_id
}

async function takeOff(tx: Tx, undone: Undone, given: readonly string[], now: number) {
  const { taskId, accountId, listId, importId } = undone
  const brought = await tx
    .selectFrom('list_members')
    .innerJoin('contacts', 'contacts.id', 'list_members.contact_id')
    .select(['contacts.id', 'created_at', 'changed_at', 'added_at'])
    .where('list_id', '=', listId)
    .where('contact_id', 'in', idsIn(given, 'text'))
    .where('import_id', '=', importId)
    .execute()
  const gone = brought.filter(({ changed_at, added_at }) => (changed_at ?? 0) <= added_at)
  const ids = gone.map(({ id }) => id)
  // Who became a contact by the import has the time of it; who was known before has not.
  const fresh = gone
    .filter(({ created_at, added_at }) => created_at === added_at)
    .map(({ id }) => id)
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
