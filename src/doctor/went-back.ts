import { type Config, databaseAt, nodeNameOf } from '../config/index.js'
import { backInWords, lastBeatOf, readLastBeat, wentBack } from '../nodes/index.js'
import { type Read, withoutSecrets } from '../store/index.js'

/** Of a database that knows less than it has acknowledged, on which nothing starts; undefined: it knows all. */
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
