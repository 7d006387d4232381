import { join } from 'node:path'

export const databaseFile = (dataDir: string) => join(dataDir, 'posthorn.db')

/** The write-ahead log beside a database file. */
export const logFile = (file: string) => `${file}-wal`

/** What may lie beside a database file and belongs to it: its log, the log's index, the journal of a copy. */
export const filesBeside = (file: string) => [logFile(file), `${file}-shm`, `${file}-journal`]
