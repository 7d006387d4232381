import { counted } from '../amounts/index.js'
import { dayMs, hourMs } from '../clock/index.js'
import { databaseAt } from '../config/index.js'
import { messageOf, OperatorError } from '../errors/index.js'
import { readServerFacts, type ServerFacts, weakServer, withoutSecrets } from '../store/index.js'
import { type DoctorDeps, type Finding, findingsOf } from './finding.js'
import { findWentBack } from './went-back.js'

/** Whether the database's server may lose mail or let it wait; SQLite has no server. */
export async function checkDatabase(
  deps: Pick<DoctorDeps, 'config' | 'dataDir' | 'clock' | 'read'>,
): Promise<Finding[]> {
  const { config, dataDir, clock } = deps
  const place = databaseAt(dataDir, config.store)
  if (place.url === undefined) return []
  const called = withoutSecrets(place.url)
  const facts = await readServerFacts(place.url, clock).catch((error: unknown) => {
    if (error instanceof OperatorError) return error
    throw error
  })
  if (facts instanceof OperatorError) {
    const { cause, advice } = facts
    return [
      findingsOf('database', called).fail(
        `cannot be asked: ${messageOf(cause ?? 'it wants a password')}`,
        advice,
      ),
    ]
  }
  const back = await findWentBack(deps)
  return judgeServer(facts, {
    called,
    url: place.url,
    backups: config.store.backups,
    now: clock.now(),
    back,
  })
}

interface Asked {
  called: string
  url: string
  /** The operator's setting about its backups. */
  backups: string
  now: number
  /** The database has lost commits that it acknowledged. */
  back: { went: string; fix: string } | undefined
}

/** The server's faults, ordered by what they may cost. */
export function judgeServer(facts: ServerFacts, asked: Asked): Finding[] {
  const of = findingsOf('database', asked.called)
  const weak = weakServer(facts)
  const { used, most } = facts.connections
  const found: (Finding | false)[] = [
    asked.back !== undefined && of.fail(asked.back.went, asked.back.fix),
    weak === undefined
      ? asked.back === undefined &&
        of.ok(
          `PostgreSQL ${Math.floor(facts.version / 10_000)}, ${facts.encoding} by ${facts.collation.name}, ${facts.roundTripMs.toFixed(1)} ms away; what it has answered is on its disk`,
        )
      : of.fail(
          weak,
          "mend it in postgresql.conf: until then an answered mail may be lost with the server's power",
        ),
    !facts.isHere &&
      !isVerified(asked.url) &&
      of.warn(
        facts.isEncrypted
          ? 'the way to it is encrypted, but nobody looks whether it is that server'
          : 'the way to it is not encrypted: mails and addresses go over the network as they are',
        'add ?sslmode=verify-full (and sslrootcert=FILE) to store.url',
      ),
    facts.synchronousStandbys === 0 &&
      of.warn(
        facts.standbys === 0
          ? 'it has no standby: while its machine is down no mail is taken'
          : `it has ${counted(facts.standbys, 'standby', 'standbys')}, none of them synchronous: a failover may lose what was answered last`,
        facts.standbys === 0
          ? 'if that is not wanted, a synchronous standby (synchronous_standby_names)'
          : 'synchronous_standby_names names those that every commit waits for',
      ),
    judgeArchive(of, facts, asked),
    judgeCollation(of, facts),
    facts.oldestTransactionMs > hourMs &&
      of.warn(
        `a transaction has been open for ${counted(Math.floor(facts.oldestTransactionMs / hourMs), 'hour')}: nothing that was deleted since can be cleared away`,
        'select pid, usename, application_name, query from pg_stat_activity order by xact_start limit 1',
      ),
    facts.inactiveSlots.length > 0 &&
      of.warn(
        `replication slots that nobody reads (${facts.inactiveSlots.join(', ')}) keep its log until the disk is full`,
        "select pg_drop_replication_slot('NAME'), or start who reads it",
      ),
    ...facts.deadShares
      .filter(({ dead, live }) => dead > 100_000 && dead > 10 * live)
      .map(({ table, dead }) =>
        of.warn(
          `${dead} dead rows in ${table}: vacuum does not keep up, and every look into it takes longer`,
          `vacuum (verbose) ${table}, which says what holds it up`,
        ),
      ),
    Math.abs(facts.aheadMs) > 5_000 &&
      of.warn(
        `its clock is ${Math.round(Math.abs(facts.aheadMs) / 1_000)} seconds ${facts.aheadMs > 0 ? 'ahead of' : 'behind'} this machine's`,
        'see to NTP on both machines',
      ),
    used > 0.9 * most &&
      of.warn(
        `${used} of its ${most} connections are used: Posthorn needs up to 10 a thread`,
        'raise max_connections, or end what holds them',
      ),
  ]
  return found.filter((one) => one !== false)
}

/**
 * The order of indexes with another collation than C depends on the version of the C library. If it differs, on a
 * standby or after an upgrade of the system, rows are not found.
 */
function judgeCollation(
  of: ReturnType<typeof findingsOf>,
  { collation: { name, isStale, others } }: ServerFacts,
): Finding | false {
  if (others === 0) return false
  const columns = counted(others, 'column')
  if (isStale) {
    return of.fail(
      `its C library sorts otherwise than when the database was made, and ${columns} go by ${name}: rows may not be found`,
      'reindex database, then alter database NAME refresh collation version',
    )
  }
  return of.warn(
    `${columns} go by the collation ${name} and not by C, as Posthorn made them: a standby of another system may not find rows`,
    'alter table TABLE alter column COLUMN type text collate "C", for those that were changed',
  )
}

/** Somebody has to make backups: the server through its log, or whoever the operator names. */
function judgeArchive(
  of: ReturnType<typeof findingsOf>,
  { archiving }: ServerFacts,
  { backups, now }: Asked,
): Finding | false {
  if (!archiving.isOn) {
    if (backups !== '') return of.ok(`its backups are made ${backups}`)
    return of.warn(
      'it archives no log, so that nobody knows of a backup of it',
      'pgBackRest, Barman or WAL-G, or say who makes them: store.backups = "by …"',
    )
  }
  const { lastAt, failedAt } = archiving
  if (failedAt !== null && (lastAt === null || failedAt > lastAt)) {
    return of.fail(
      'its last try to archive its log failed',
      'its log says why; look at archive_command',
    )
  }
  if (lastAt !== null && now - lastAt > dayMs) {
    return of.warn(
      `its log was archived ${counted(Math.floor((now - lastAt) / dayMs), 'day')} ago last`,
      'archive_timeout, so that a quiet day is archived too',
    )
  }
  return of.ok('its log is archived')
}

const isVerified = (url: string) => /[?&]sslmode=verify-(full|ca)\b/.test(url)
