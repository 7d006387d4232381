import { sql } from 'kysely'
import type { Clock } from '../../clock/index.js'
import type { ServerFacts } from '../server-weakness.js'
import { looking } from './found.js'

const busyTables = ['queue', 'webhook_jobs', 'inbound_spool', 'sessions', 'protection', 'usage']

/** Asks the server of `url`. Throws an OperatorError where it does not answer. */
export async function readServerFacts(url: string, ownClock: Clock): Promise<ServerFacts> {
  return await looking(url, async (db) => {
    const began = performance.now()
    const clock = await sql<{ now: number }>`
      select cast(extract(epoch from clock_timestamp()) * 1000 as bigint) as now`.execute(db)
    const roundTripMs = performance.now() - began
    const aheadMs = (clock.rows[0]?.now ?? 0) - (ownClock.now() - roundTripMs / 2)
    const one = await sql<{
      version: number
      encoding: string
      is_standby: number
      may_make: number
      collation: string
      is_stale: number | null
      other_columns: number
      fsync: string
      full_page_writes: string
      synchronous_commit: string
      archive_mode: string
      ssl: number | null
      is_here: number
      used: number
      most: number
      oldest: number | null
    }>`select current_setting('server_version_num')::bigint as version,
        current_setting('server_encoding') as encoding,
        pg_is_in_recovery() as is_standby,
        coalesce(has_schema_privilege(current_schema(), 'create'), false) as may_make,
        (select case datlocprovider when 'c' then datcollate
             else coalesce(to_jsonb(pg_database) ->> 'daticulocale', to_jsonb(pg_database) ->> 'datlocale', datcollate) end
           from pg_database where datname = current_database()) as collation,
        (select datcollversion <> pg_database_collation_actual_version(oid)
           from pg_database where datname = current_database()) as is_stale,
        (select count(*) from pg_attribute inner join pg_class on pg_class.oid = attrelid
           inner join pg_collation on pg_collation.oid = attcollation
           inner join pg_database on datname = current_database()
           where relnamespace = current_schema()::regnamespace and relkind = 'r' and attnum > 0
             and not attisdropped and relname not like 'kysely%'
             and case when collname <> 'default' then collname when datlocprovider = 'c' then datcollate else datlocprovider::text end not in ('C', 'POSIX', 'b')) as other_columns,
        current_setting('fsync') as fsync,
        current_setting('full_page_writes') as full_page_writes,
        current_setting('synchronous_commit') as synchronous_commit,
        current_setting('archive_mode') as archive_mode,
        (select ssl from pg_stat_ssl where pid = pg_backend_pid()) as ssl,
        coalesce(inet_server_addr() = inet_client_addr(), true) as is_here,
        (select count(*) from pg_stat_activity) as used,
        current_setting('max_connections')::bigint as most,
        (select max(extract(epoch from clock_timestamp() - xact_start) * 1000)
           from pg_stat_activity where pid <> pg_backend_pid() and datname = current_database()) as oldest`.execute(
      db,
    )
    // To a role without pg_read_all_stats the server tells no more than that a standby is there. If commits wait for
    // one by its settings, then one of these has them.
    const standbys = await sql<{ sync_state: string }>`
      select coalesce(sync_state, case when current_setting('synchronous_standby_names') = '' then 'async' else 'sync' end)
        as sync_state
      from pg_stat_replication where coalesce(state, 'streaming') = 'streaming'`.execute(db)
    const slots = await sql<{ slot_name: string }>`
      select slot_name from pg_replication_slots where not active`.execute(db)
    const archiver = await sql<{ last_at: number | null; failed_at: number | null }>`
      select extract(epoch from last_archived_time) * 1000 as last_at,
        extract(epoch from last_failed_time) * 1000 as failed_at from pg_stat_archiver`.execute(db)
    const dead = await sql<{ table: string; dead: number; live: number }>`
      select relname as table, n_dead_tup as dead, n_live_tup as live from pg_stat_user_tables
      where relname in (${sql.join(busyTables)})`.execute(db)
    const [said] = one.rows
    if (said === undefined) throw new Error('The server says nothing of itself')
    const { version, encoding, fsync, full_page_writes, synchronous_commit } = said
    const weak = [
      ...(fsync === 'on' ? [] : ['fsync' as const]),
      ...(full_page_writes === 'on' ? [] : ['full_page_writes' as const]),
      ...(/^(on|remote_apply|remote_write)$/.test(synchronous_commit)
        ? []
        : ['synchronous_commit' as const]),
    ]
    const states = standbys.rows.map(({ sync_state }) => sync_state)
    return {
      version,
      encoding,
      isStandby: said.is_standby === 1,
      mayMakeTables: said.may_make === 1,
      collation: {
        name: said.collation,
        isStale: said.is_stale === 1,
        others: said.other_columns,
      },
      weak,
      isEncrypted: said.ssl === 1,
      isHere: said.is_here === 1,
      synchronousStandbys: states.filter((state) => state === 'sync' || state === 'quorum').length,
      standbys: states.length,
      archiving: {
        isOn: said.archive_mode !== 'off',
        lastAt: archiver.rows[0]?.last_at ?? null,
        failedAt: archiver.rows[0]?.failed_at ?? null,
      },
      oldestTransactionMs: said.oldest ?? 0,
      inactiveSlots: slots.rows.map(({ slot_name }) => slot_name),
      deadShares: dead.rows,
      aheadMs,
      roundTripMs,
      connections: { used: said.used, most: said.most },
    }
  })
}
