import { statSync } from 'node:fs'
import { dueRuns } from '../../src/automations/engine/due.js'
import { openConnection } from '../../src/store/sqlite/connection.js'
import { databaseFile } from '../../src/store/sqlite/files.js'
import { openBenchEngine } from './automation-engine.js'
import { openDelaySink } from './delay-sink.js'
import { fillList, openBeside } from './fill-list.js'
import {
  type Appliance,
  initDataDir,
  loadAverage,
  memoryMb,
  quantile,
  report,
  serveAppliance,
  sleep,
} from './rig.js'

const sinkPort = 2_632
const everyMs = 50
const spreadMs = 60_000
// Until the appliance is up and quiet.
const quietMs = 20_000
// Transactional mail with nothing beside it, to compare with.
const aloneMs = 5_000

/** So many live runs, all due within the same minute, and transactional mail beside them. */
export async function dueAtOnce(runs: number, seconds: number): Promise<void> {
  const { dataDir, apiKey, accountId } = initDataDir()
  await fillList(dataDir, accountId, 0)
  const engine = await openBenchEngine(dataDir, accountId)
  const automationId = await engine.enable('due', ['trigger', 'delay', 'send', 'delay'])
  await engine.close()
  // As long as the filling takes on a slow disk.
  const dueFrom = Date.now() + quietMs + runs / 10
  const bytes = fillRuns(dataDir, { runs, accountId, automationId, dueFrom })
  const scans = await scanTimes(dataDir, accountId, dueFrom + spreadMs)
  await sleep(dueFrom - 0.75 * quietMs - Date.now())

  const mailAt = new Map<string, number>()
  const sink = await openDelaySink(sinkPort, 0, (recipient, at) => {
    if (recipient.startsWith('reset')) mailAt.set(recipient, at)
  })
  const appliance = await serveAppliance({ dataDir, apiKey, sinkPort, connections: 20 })
  const alone = await sendBeside(appliance, aloneMs / 1_000)
  await sleep(dueFrom - 1_000 - Date.now())
  const before = memoryMb(appliance.pid, 'VmRSS')
  await sleep(dueFrom + 2_000 - Date.now())
  const left = await liveLeft(dataDir, automationId)
  const { asked, answered, peak } = await sendBeside(appliance, seconds)
  const stepped = left - (await liveLeft(dataDir, automationId))
  await sleep(3_000)
  const waits = (asked: ReadonlyMap<string, number>) =>
    [...asked].map(([to, at]) => (mailAt.get(to) ?? Number.POSITIVE_INFINITY) - at)
  const shown = (times: readonly number[]) =>
    [0.5, 0.99, 1].map((share) => quantile(times, share).toFixed(1)).join(' / ')
  report([
    ['live runs, load average', `${runs}, ${loadAverage()}`],
    ['bytes of database a run (bar: 1024)', (bytes / runs).toFixed(0)],
    ['due scan of 200, p50 / p99 / max ms (bar: 2)', shown(scans)],
    ['steps with a mail meanwhile, /s', (stepped / seconds).toFixed(0)],
    ['mails at the receiver, all in all', String(sink.count())],
    [
      'RSS before, growth at the peak, MB (bar: 150)',
      [before, peak - before].map(Math.round).join(', '),
    ],
    ['transactional mails beside them', String(asked.size)],
    ['answer with nothing beside it', shown(alone.answered)],
    ['answer, p50 / p99 / max ms (bar: 50)', shown(answered)],
    ['request to MAIL with nothing beside it', shown(waits(alone.asked))],
    ['request to MAIL, p50 / p99 / max ms (bar: 500)', shown(waits(asked))],
  ])
  appliance.process.kill('SIGKILL')
  sink.close()
}

/**
 * Contacts, each with its event, entry and run in the first delay. Returns the bytes that the last three
 * take.
 */
function fillRuns(
  dataDir: string,
  what: { runs: number; accountId: string; automationId: string; dueFrom: number },
): number {
  const file = databaseFile(dataDir)
  const db = openConnection(file, { busyTimeoutMs: 1_000 })
  const size = () => {
    db.pragma('wal_checkpoint(truncate)')
    return statSync(file).size
  }
  const id = "printf('019a0000-%04x-7%03x-8000-%012x', n >> 12, n & 4095, n)"
  const given = { ...what, spreadMs, startedAt: what.dueFrom - 1_800_000 }
  const all = 'with recursive ns (n) as (select 1 union all select n + 1 from ns where n < @runs)'
  const fill = (into: string, values: string) => {
    const used = Object.entries(given).filter(
      ([name]) => name === 'runs' || values.includes(`@${name}`),
    )
    db.prepare(`insert into ${into} ${all} select ${values} from ns`).run(Object.fromEntries(used))
  }
  const address = "'p' || n || '@d' || (n % 20) || '.test'"
  fill(
    'contacts (id, account_id, address, email, created_at)',
    `${id}, @accountId, ${address}, ${address}, @startedAt`,
  )
  const before = size()
  db.exec('begin')
  fill(
    'automation_events (id, account_id, contact_id, name, payload, at, depth)',
    `n, @accountId, ${id}, 'due', '{"order":"A-' || n || '","total":4200}', @startedAt, 0`,
  )
  fill(
    'automation_entries (contact_id, automation_id, runs, last_started_at)',
    `${id}, @automationId, 1, @startedAt`,
  )
  const step = (key: string) =>
    `(select id from automation_steps where automation_id = @automationId and key = '${key}')`
  // The delay ends in the minute; in no order of the ids.
  fill(
    'automation_live (id, account_id, automation_id, version, contact_id, trigger_event, step_id, seq, ' +
      'status, due_at, entered_at, attempts, steps, mails, outlives, history, started_at, updated_at)',
    `printf('019b0000-%04x-7%03x-8000-%012x', n >> 12, n & 4095, n), @accountId, @automationId, 1, ` +
      `${id}, n, ${step('step1')}, 1, 'waiting', @dueFrom + (n * 7919) % @spreadMs, @startedAt, 0, 1, 0, 0, ` +
      `'[[' || ${step('step0')} || ',0,"started"]]', @startedAt, @startedAt`,
  )
  db.prepare('update automations set waiting = ?, enrolled = ? where id = ?').run(
    ...[what.runs, what.runs, what.automationId],
  )
  db.exec('commit')
  const bytes = size() - before
  db.close()
  return bytes
}

async function scanTimes(dataDir: string, accountId: string, now: number): Promise<number[]> {
  const { read, close } = await openBeside(dataDir)
  const times: number[] = []
  for (let scan = 0; scan < 100; scan++) {
    const began = performance.now()
    await dueRuns(read, { accountId, now, limit: 200 })
    times.push(performance.now() - began)
  }
  await close()
  return times
}

/** Runs that are still in the first delay. */
async function liveLeft(dataDir: string, automationId: string): Promise<number> {
  const { read, close } = await openBeside(dataDir)
  const step = read.selectFrom('automation_steps').select('done').where('key', '=', 'step2')
  const row = await step.where('automation_id', '=', automationId).executeTakeFirstOrThrow()
  await close()
  return -row.done
}

/** Transactional mails at a fixed pace, one after another whatever the answers take. */
async function sendBeside(appliance: Appliance, seconds: number) {
  const asked = new Map<string, number>()
  const answered: number[] = []
  const pending: Promise<unknown>[] = []
  let peak = 0
  const began = performance.now()
  for (let n = 0; n * everyMs < seconds * 1_000; n++) {
    await sleep(began + n * everyMs - performance.now())
    peak = Math.max(peak, memoryMb(appliance.pid, 'VmRSS'))
    const to = `reset${n}-${seconds}@other.test`
    const at = performance.now()
    asked.set(to, at)
    const mail = { from: 'a@example.test', to, subject: 'Your password', html: '<p>reset</p>' }
    const sent = appliance.post('/v1/emails/send', mail)
    pending.push(sent.then(() => answered.push(performance.now() - at)))
  }
  await Promise.all(pending)
  return { asked, answered, peak }
}
