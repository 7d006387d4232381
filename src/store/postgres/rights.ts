import { sql } from 'kysely'
import type { Read } from '../schema/index.js'

/** A table in which this role lacks rights that an appliance needs; undefined: it has them everywhere. */
export async function refusedTable(read: Read): Promise<string | undefined> {
  const { rows } = await sql<{ relname: string }>`
    select relname from pg_class
    where relnamespace = current_schema()::regnamespace and relkind = 'r' and not (
      has_table_privilege(oid, 'select') and has_table_privilege(oid, 'insert')
      and has_table_privilege(oid, 'update') and has_table_privilege(oid, 'delete'))
    order by relname limit 1`.execute(read)
  return rows[0]?.relname
}
