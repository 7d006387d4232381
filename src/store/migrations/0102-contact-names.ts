import type { Kysely, Migration } from 'kysely'
import { cell, rowsOf } from '../fragments.js'

interface Stored {
  contacts: {
    id: string
    first_name: string | null
    last_name: string | null
    name_key: string | null
    last_name_key: string | null
  }
}

// A page of an upgrade: small enough for one statement's JSON.
const perPage = 1_000

/** Contacts are found by how their names begin. */
export const contactNames: Migration = {
  async up(untyped: Kysely<never>) {
    const db = untyped as unknown as Kysely<Stored>
    for (const column of ['name_key', 'last_name_key']) {
      await db.schema.alterTable('contacts').addColumn(column, 'text').execute()
    }
    for (let after = ''; ; ) {
      const rows = await db
        .selectFrom('contacts')
        .select(['id', 'first_name', 'last_name'])
        .where('id', '>', after)
        .orderBy('id')
        .limit(perPage)
        .execute()
      const keys = rows.flatMap(({ id, first_name, last_name }) =>
        first_name === null && last_name === null ? [] : [[id, ...keysOf(first_name, last_name)]],
      )
      await db
        .updateTable('contacts')
        .from(rowsOf(JSON.stringify(keys)))
        .set({
          name_key: cell<string | null>(1, 'text'),
          last_name_key: cell<string | null>(2, 'text'),
        })
        .whereRef('contacts.id', '=', cell(0, 'text'))
        .execute()
      const last = rows.at(-1)
      if (last === undefined || rows.length < perPage) break
      after = last.id
    }
    await db.schema
      .createIndex('contacts_name')
      .on('contacts')
      .columns(['account_id', 'name_key', 'id'])
      .where('name_key', 'is not', null)
      .execute()
    await db.schema
      .createIndex('contacts_last_name')
      .on('contacts')
      .columns(['account_id', 'last_name_key', 'id'])
      .where('last_name_key', 'is not', null)
      .execute()
  },
}

/** The keys as `contacts/fields.ts` made them when this was written. */
function keysOf(first: string | null, last: string | null): [string | null, string | null] {
  const key = (text: string) => text.normalize('NFKC').toLowerCase()
  const whole = [first, last].filter((name) => name !== null).join(' ')
  return [whole === '' ? null : key(whole), first === null || last === null ? null : key(last)]
}
