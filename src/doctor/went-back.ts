import { type Config, databaseAt, nodeNameOf } from '../config/index.js'
import { backInWords, lastBeatOf, readLastBeat, wentBack } from '../nodes/index.js'
import { type Read, withoutSecrets } from '../store/index.js'

/**
 * About a database that has lost commits that it acknowledged, on which nothing starts; undefined if it has
 * lost none.
 */
export async function findWentBack({
  config,
  dataDir,
  read,
}: {
  config: Config
  dataDir: string
  read: Read
}): Promise<{ called: string; went: string; fix: string } | undefined> {
  const { url } = databaseAt(dataDir, config.store)
  if (url === undefined) return undefined
  const beat = await lastBeatOf(read, nodeNameOf(config.node))
  const ms = wentBack(readLastBeat(dataDir), beat)
  return ms === undefined ? undefined : { called: withoutSecrets(url), ...backInWords(ms) }
}
