import { type Kysely, sql } from 'kysely'
import { strict, withoutRowid } from '../sqlite/ddl.js'

/** Who logs in at the dashboard, in which accounts they are, and by what they show who they are. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await people(db)
  await waysIn(db)
}

/**
 * Passwords and second factors of those who log in at the dashboard. `address` is the e-mail in
 * lower case and unique, `email` as it was written.
 */
async function people({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('users')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('email', 'text', (c) => c.notNull())
    .addColumn('address', 'text', (c) => c.notNull().unique())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('password', 'text')
    .addColumn('totp_secret', 'blob')
    .addColumn('totp_step', 'integer', (c) => c.notNull())
    .addColumn('operator', 'integer', (c) => c.notNull())
    .addColumn('disabled_at', 'integer')
    .addColumn('created_at', 'integer', (c) => c.notNull())
    .addColumn('last_login_at', 'integer')
    .modifyEnd(sql`${strict}, ${withoutRowid}`)
    .execute()
  await schema
    .createTable('memberships')
    .addColumn('user_id', 'text', (c) => c.notNull())
    .addColumn('account_id', 'text', (c) => c.notNull())
    .addColumn('role', 'text', (c) => c.notNull())
    .addColumn('created_at', 'integer', (c) => c.notNull())
    .addPrimaryKeyConstraint('memberships_pk', ['user_id', 'account_id'])
    .modifyEnd(sql`${strict}, ${withoutRowid}`)
    .execute()
  await schema
    .createIndex('memberships_account')
    .on('memberships')
    .columns(['account_id', 'user_id'])
    .execute()
  await schema
    .createTable('invitations')
    .addColumn('id', 'text', (c) => c.primaryKey())
    // Null: as an operator.
    .addColumn('account_id', 'text')
    .addColumn('email', 'text', (c) => c.notNull())
    .addColumn('address', 'text', (c) => c.notNull())
    .addColumn('role', 'text', (c) => c.notNull())
    .addColumn('token_hash', 'blob', (c) => c.notNull().unique())
    .addColumn('invited_by', 'text', (c) => c.notNull())
    .addColumn('created_at', 'integer', (c) => c.notNull())
    .addColumn('expires_at', 'integer', (c) => c.notNull())
    .addColumn('accepted_at', 'integer')
    .modifyEnd(sql`${strict}, ${withoutRowid}`)
    .execute()
  await schema
    .createIndex('invitations_account')
    .on('invitations')
    .columns(['account_id', 'id'])
    .execute()
}

/**
 * Sessions and links are stored as hashes: whoever reads the database or a backup cannot log in
 * with what is there.
 */
async function waysIn({ schema }: Kysely<unknown>): Promise<void> {
  await schema
    .createTable('sessions')
    .addColumn('hash', 'blob', (c) => c.primaryKey())
    .addColumn('id', 'text', (c) => c.notNull())
    .addColumn('user_id', 'text', (c) => c.notNull())
    .addColumn('state', 'text', (c) => c.notNull())
    .addColumn('created_at', 'integer', (c) => c.notNull())
    .addColumn('seen_at', 'integer', (c) => c.notNull())
    .addColumn('expires_at', 'integer', (c) => c.notNull())
    .addColumn('sudo_until', 'integer', (c) => c.notNull())
    .addColumn('address_key', 'text', (c) => c.notNull())
    .addColumn('agent', 'text', (c) => c.notNull())
    .modifyEnd(sql`${strict}, ${withoutRowid}`)
    .execute()
  await schema.createIndex('sessions_user').on('sessions').columns(['user_id', 'id']).execute()
  await schema.createIndex('sessions_expiry').on('sessions').column('expires_at').execute()
  await schema
    .createTable('passkeys')
    .addColumn('credential_id', 'text', (c) => c.primaryKey())
    .addColumn('id', 'text', (c) => c.notNull())
    .addColumn('user_id', 'text', (c) => c.notNull())
    .addColumn('public_key', 'blob', (c) => c.notNull())
    .addColumn('counter', 'integer', (c) => c.notNull())
    .addColumn('transports', 'text', (c) => c.notNull())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('backed_up', 'integer', (c) => c.notNull())
    .addColumn('created_at', 'integer', (c) => c.notNull())
    .addColumn('used_at', 'integer')
    .modifyEnd(sql`${strict}, ${withoutRowid}`)
    .execute()
  await schema.createIndex('passkeys_user').on('passkeys').columns(['user_id', 'id']).execute()
  await schema
    .createTable('recovery_codes')
    .addColumn('user_id', 'text', (c) => c.notNull())
    .addColumn('hash', 'blob', (c) => c.notNull())
    .addColumn('used_at', 'integer')
    .addPrimaryKeyConstraint('recovery_codes_pk', ['user_id', 'hash'])
    .modifyEnd(sql`${strict}, ${withoutRowid}`)
    .execute()
  await schema
    .createTable('entry_links')
    .addColumn('hash', 'blob', (c) => c.primaryKey())
    .addColumn('kind', 'text', (c) => c.notNull())
    // Null: of the first person, who is not there yet.
    .addColumn('user_id', 'text')
    .addColumn('created_at', 'integer', (c) => c.notNull())
    .addColumn('expires_at', 'integer', (c) => c.notNull())
    .modifyEnd(sql`${strict}, ${withoutRowid}`)
    .execute()
  await schema.createIndex('entry_links_expiry').on('entry_links').column('expires_at').execute()
}
