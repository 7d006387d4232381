// A thread that commits to a database without a pause, by a connection of its own; `workerData` is the file.
import { workerData } from 'node:worker_threads'
import Database from 'better-sqlite3'

const db = new Database(workerData as string, { timeout: 10_000 })
db.pragma('wal_autocheckpoint = 0')
db.pragma('synchronous = normal')
db.exec('create table filler (text text)')
const insert = db.prepare('insert into filler (text) values (?)')
for (;;) insert.run('x'.repeat(100_000))
