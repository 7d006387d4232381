import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { type Clock, systemClock } from '../../src/clock/index.js'
import { makeTurns, openStore, type Store } from '../../src/store/index.js'
import { databaseOf, isPostgres } from './postgres.js'
import { makeDatabase } from './template.js'

/** A directory of the test's own; a failed test keeps it. */
export function makeTempDir(t: Test): string {
  const dir = mkdtempSync(join(tmpdir(), 'posthorn-'))
  t.teardown(() => {
    if (t.passing()) rmSync(dir, { recursive: true, force: true })
    else t.comment(`kept ${dir}`)
  })
  return dir
}

/** The place of the test's database, for a process that opens it itself. */
export const databaseIn = async (dataDir: string) => ({
  dataDir,
  url: isPostgres ? await databaseOf(dataDir) : undefined,
})

export async function openTestStore(
  t: Test,
  options: { clock?: Clock; dataDir?: string; slot?: number; turns?: SharedArrayBuffer } = {},
): Promise<Store> {
  const dataDir = options.dataDir ?? makeTempDir(t)
  const { url } = await databaseIn(dataDir)
  if (url === undefined) await makeDatabase(dataDir)
  const store = await openStore({
    dataDir,
    url,
    clock: options.clock ?? systemClock,
    turns: options.turns ?? makeTurns(),
    slot: options.slot ?? 0,
  })
  t.teardown(() => store.close())
  return store
}
