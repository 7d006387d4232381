import BetterSqlite3 from 'better-sqlite3'

/*
 * Holds the write lock of a database (the only argument), as a backup program or somebody's shell may. It reports
 * that by a message, and lets go when told to.
 */
const db = new BetterSqlite3(process.argv[2] ?? '')
db.exec('begin exclusive')
process.on('message', () => {
  db.exec('rollback')
  process.send?.('free', () => process.exit())
})
process.send?.('held')
