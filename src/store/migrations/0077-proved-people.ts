import { type Kysely, sql } from 'kysely'
import { strict, withoutRowid } from '../sqlite/ddl.js'

/** Whose address was proved, who invited whom, and from where people log in. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { schema } = db
  await schema.alterTable('users').addColumn('proved_at', 'integer').execute()
  // How the others came in was not kept; they prove it when another account invites them.
  await sql`update users set proved_at = created_at where operator = 1`.execute(db)
  await schema.alterTable('invitations').addColumn('proof_hash', 'blob').execute()
  await schema.alterTable('invitations').addColumn('inviter_id', 'text').execute()
  // Of those before nobody knows whether who made them still may invite.
  await sql`delete from invitations where accepted_at is null`.execute(db)
  await schema
    .createIndex('invitations_proof')
    .unique()
    .on('invitations')
    .column('proof_hash')
    .where(sql.ref('proof_hash'), 'is not', null)
    .execute()
  await schema
    .createIndex('invitations_inviter')
    .on('invitations')
    .column('inviter_id')
    .where(sql.ref('accepted_at'), 'is', null)
    .execute()
  await schema
    .createTable('known_places')
    .addColumn('user_id', 'text', (c) => c.notNull())
    .addColumn('address_key', 'text', (c) => c.notNull())
    .addColumn('seen_at', 'integer', (c) => c.notNull())
    .addPrimaryKeyConstraint('known_places_pk', ['user_id', 'address_key'])
    .modifyEnd(sql`${strict}, ${withoutRowid}`)
    .execute()
  await schema.createIndex('known_places_age').on('known_places').column('seen_at').execute()
}
