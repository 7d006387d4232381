import { isZone } from '../clock/index.js'
import { faultOfCron } from './schedule.js'
import { type Setting, table } from './settings.js'

/** A job of the calendar, as it is unless `[jobs]` says otherwise. */
export interface JobDefinition {
  /** Five fields of cron(8), in the zone of `[jobs]`. */
  cron: string
  /** A run that lasts longer is ended: first it is asked to end, then it is terminated. */
  limitMs: number
  /**
   * One job of each lane runs at a time, which bounds the memory (24 MB a thread) and the load. `long` has the jobs
   * that may take hours, and that make no mail.
   */
  lane: JobLane
  /** What it does, for operators: follows the job's name in `posthorn job list`. */
  what: string
}

/** Short jobs and long ones, so that a backup of hours does not hold up a report. */
export type JobLane = 'short' | 'long'
/** All lanes. */
export const lanes: readonly JobLane[] = ['short', 'long']

const minuteMs = 60_000

/**
 * Everything periodic that need not happen within seconds; each job has its entry in `src/jobs/`. The times are at
 * night, apart from each other, and none is at a full hour, when mail of others' cron jobs comes.
 */
export const jobCatalogue = {
  backup: {
    cron: '13 2 * * *',
    limitMs: 12 * 60 * minuteMs,
    lane: 'long',
    what: 'makes a backup into backup.dir, removes old ones, and runs backup.hook',
  },
  'backup-check': {
    cron: '43 5 * * *',
    limitMs: 12 * 60 * minuteMs,
    lane: 'long',
    what: 'unpacks the newest backup as a restore does, and checks all of it',
  },
  retention: {
    cron: '23 * * * *',
    limitMs: 60 * minuteMs,
    lane: 'long',
    what: 'deletes what is older than [retention] and the plans say, stores equal bodies once, and keeps the disk from filling up',
  },
  optimize: {
    cron: '50 4 * * *',
    limitMs: 60 * minuteMs,
    lane: 'long',
    what: 'gives free pages of the database file back to the disk, but for a tenth of them; of a PostgreSQL none, as its autovacuum uses them again',
  },
  rollover: {
    cron: '10 0 * * *',
    limitMs: 10 * minuteMs,
    lane: 'short',
    what: 'closes the day: deletes counts of bounces and complaints that are older than protection.window',
  },
  'key-rotation': {
    cron: '20 6 * * *',
    limitMs: 10 * minuteMs,
    lane: 'short',
    what: 'looks for API keys that expire soon or are not used, and for DKIM keys that are old',
  },
  'domain-checks': {
    cron: '29 */2 * * *',
    limitMs: 30 * minuteMs,
    lane: 'short',
    what: 'looks whether the DNS records of sending domains are still there',
  },
  blocklists: {
    cron: '41 */4 * * *',
    limitMs: 10 * minuteMs,
    lane: 'short',
    what: 'asks the blocklists about the addresses that mail leaves from',
  },
  certificates: {
    cron: '34 5 * * *',
    limitMs: 20 * minuteMs,
    lane: 'short',
    what: 'looks when certificates end; gets and renews those of [tls] acme, for which it also runs when one is due',
  },
  doctor: {
    cron: '12 5 * * *',
    limitMs: 20 * minuteMs,
    lane: 'short',
    what: "examines the appliance as 'posthorn doctor' does",
  },
  'weekly-report': {
    cron: '51 6 * * 1',
    limitMs: 10 * minuteMs,
    lane: 'short',
    what: 'puts the figures of the week into the mail of the day',
  },
  'operator-mail': {
    cron: '3 7 * * *',
    limitMs: 20 * minuteMs,
    lane: 'short',
    what: 'mails the operator what there is to know that day, if there is anything',
  },
  'tls-reports': {
    cron: '7,22,37,52 * * * *',
    limitMs: 14 * minuteMs,
    lane: 'short',
    what: 'sends the reports about TLS that domains ask for: of yesterday, spread over four hours, and again what was not taken',
  },
} as const satisfies Record<string, JobDefinition>

/** The jobs' names, as the operator writes them. */
export type JobName = keyof typeof jobCatalogue
/** In the order in which they are listed. */
export const jobNames = Object.keys(jobCatalogue) as JobName[]

/** The cron expression of each job, or "off". */
export const schedules = Object.fromEntries(
  jobNames.map((name) => [name, cronOrOff(jobCatalogue[name].cron)]),
) as Readonly<Record<JobName, Setting<string>>>

/** A setting of `[jobs]`. */
function cronOrOff(fallback: string) {
  const expected = `a cron expression of five fields such as "${fallback}", never twice within 10 minutes, or "off"`
  const setting: Setting<string> = {
    kind: 'setting',
    fallback,
    read(value) {
      if (value === 'off') return { value }
      const fault = typeof value === 'string' ? faultOfCron(value) : 'no text'
      return typeof value === 'string' && fault === undefined
        ? { value: value.trim() }
        : { expected: `${expected} (it is: ${fault})` }
    },
  }
  return setting
}

/** A time zone's name. */
export const timeZone = (fallback: string) =>
  table<string>(
    fallback,
    (value) => (typeof value === 'string' && isZone(value) ? value : undefined),
    'a time zone such as "UTC" or "Africa/Lagos"',
  )
