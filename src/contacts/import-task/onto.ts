import { ApiError } from '../../errors/index.js'
import type { Read } from '../../store/index.js'
import { liveTasks } from '../../tasks/index.js'
import type { ImportDetail } from './import-task.js'

/** The import onto a list that is under way or paused; an account has one at most. */
export async function importOnto(
  read: Read,
  accountId: string,
  listId: string,
): Promise<{ id: number; filename: string; isPaused: boolean } | undefined> {
  for (const { id, accountId: of, state, detail } of await liveTasks(read, 'import')) {
    const { filename, order } = detail as unknown as ImportDetail
    if (of !== accountId || order?.listId !== listId) continue
    if (state === 'running' || state === 'paused')
      return { id, filename, isPaused: state === 'paused' }
  }
  return undefined
}

/**
 * Throws a 409 for a list onto which somebody imports: whoever started the import would find it failed, and half of it
 * gone.
 */
export async function refuseImporting(read: Read, accountId: string, listId: string) {
  const found = await importOnto(read, accountId, listId)
  if (found === undefined) return
  const state = found.isPaused ? 'is paused' : 'is under way'
  throw new ApiError(
    'conflict',
    `An import onto this list ${state} (“${found.filename}”): stop it, or let it end, then delete the list`,
  )
}
