import { sql } from 'kysely'

/**
 * The number under which SQLite keeps a mail. It rises in the order in which mails were committed, which
 * their ids do not: several threads make those before it is their turn to write. A VACUUM may give other
 * numbers in the same order, so whoever keeps one keeps the mail's id beside it.
 */
export const mailNumber = sql<number>`emails.rowid`
