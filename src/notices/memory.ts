import type { Insertable } from 'kysely'
import type { Clock } from '../clock/index.js'
import { dayMs, isRecent } from '../clock/index.js'
import type { Log } from '../log/index.js'
import type { Tables, Tx } from '../store/index.js'
import { dayIn, type TellSettings } from './choose.js'
import { composeOperatorMail } from './compose.js'
import { sendBy, type Way } from './deliver.js'
import { notice, oneLine, type Raised } from './notice.js'
import type { Notice } from './read.js'
import { titleOf, worstFirst } from './read.js'

/** A notice in memory, and when it was told. */
interface Remembered {
  raised: Raised
  notice: Notice
  toldAt: number | undefined
}

/**
 * Urgent notices while the database cannot be written: told from memory, and handed over once it can.
 */
export interface EmergencyMemory {
  /** Takes the urgent notices of now; earlier ones that are missing are settled. */
  hold(burning: readonly Raised[]): void
  /** Sends due mails by the ways that need no database. */
  tell(): Promise<void>
  /** The database works again: stores what was told meanwhile, so that it is not told again. */
  handOver(tx: Tx): Promise<void>
  forget(): void
  readonly size: number
}

// As in `choose.ts`: urgent notices that come together share a mail.
const groupMs = 60_000

/**
 * Notices that could not be stored because the database is not writable: each is told once, from
 * memory.
 */
export function makeEmergencyMemory(deps: {
  clock: Clock
  log: Log
  settings: TellSettings
  host: string
  ways: readonly Way[]
}): EmergencyMemory {
  const { clock, log, settings, host, ways } = deps
  const held = new Map<string, Remembered>()
  /** The keys are kind and key of each notice, settled ones too. */
  const told = new Map<string, number>()
  const left: number[] = []
  /** Mails that left since writing stopped working. */
  const mails: Insertable<Tables['notice_mails']>[] = []
  const nameOf = ({ kind, key }: Raised) => `${kind} ${key}`

  return {
    get size() {
      return held.size
    },
    hold(burning) {
      const now = clock.now()
      const names = new Set(burning.map(nameOf))
      for (const name of held.keys()) if (!names.has(name)) held.delete(name)
      for (const raised of burning) {
        const name = nameOf(raised)
        const known = held.get(name)
        const shown = { ...asNotice(raised, now), firstAt: known?.notice.firstAt ?? now }
        held.set(name, { raised, notice: shown, toldAt: known?.toldAt })
      }
    },
    async tell() {
      const now = clock.now()
      const due = [...held.entries()].filter(
        ([
          name,
          {
            toldAt,
            notice: { kind },
          },
        ]) =>
          toldAt === undefined &&
          !settings.silence.includes(kind) &&
          !isRecent(told.get(name) ?? 0, now, settings.againAfterMs),
      )
      if (
        !due.some(
          ([
            ,
            {
              notice: { firstAt },
            },
          ]) => !isRecent(firstAt, now, groupMs),
        )
      )
        return
      if (left.filter((at) => isRecent(at, now, dayMs)).length >= settings.burningPerDay) return
      const notices = due.map(([, { notice: one }]) => one).sort(worstFirst)
      for (const one of notices) log.error({ kind: one.kind, fix: one.fix }, titleOf(one))
      const parts = [{ heading: '', notices, shape: 'full' }] as const
      const mail = composeOperatorMail({ host, parts, zone: settings.zone })
      const sent = await sendBy(ways, mail, `notice-${now}`)
      if (!('path' in sent)) {
        log.error(sent, 'The operator cannot be told: every way failed')
        return
      }
      left.push(now)
      left.splice(0, left.length - settings.burningPerDay)
      const day = dayIn(settings.zone, now)
      mails.push({ kind: 'burning', at: now, day, ...mail, email_id: null, state: 'sent', ...sent })
      for (const [name, one] of due) {
        one.toldAt = now
        told.set(name, now)
      }
    },
    async handOver(tx) {
      const now = clock.now()
      for (const mail of mails) await tx.insertInto('notice_mails').values(mail).execute()
      for (const { raised, toldAt } of held.values()) {
        await notice(tx, { ...raised, now })
        if (toldAt === undefined) continue
        await tx
          .updateTable('notices')
          .set({ urgent: 0, urgent_at: toldAt, told_at: toldAt })
          .where('kind', '=', raised.kind)
          .where('key', '=', raised.key)
          .where('state', '=', 'open')
          .execute()
      }
    },
    forget() {
      held.clear()
      mails.length = 0
    },
  }
}

/** A raised notice in the form of a row, although it is in no table. */
function asNotice({ kind, key, severity, text, fix }: Raised, now: number): Notice {
  const joined = (lines: string | readonly string[]) =>
    [lines]
      .flat()
      .map((line) => oneLine(line, 1_000))
      .join('\n')
  return {
    id: 0,
    kind,
    key,
    severity,
    stage: '',
    text: joined(text),
    fix: joined(fix),
    count: 1,
    firstAt: now,
    lastAt: now,
    settledAt: null,
    silencedUntil: null,
  }
}
