import type { Clock } from '../clock/index.js'
import { nameBesideOthers } from '../config/index.js'
import { holds } from '../nodes/index.js'
import { notice, noticesOf, openOfKind, settled } from '../notices/index.js'
import type { Read, Store, Tx } from '../store/index.js'
import { examine, undoneCheck } from './examine.js'
import type { DoctorDeps, Finding } from './finding.js'

/** Checks that jobs of their own make more often, or in more depth. */
const lookedAtElsewhere = [
  'blocklist',
  'certificate',
  'disk',
  'dkim',
  'jobs',
  'nodes',
  'return-path',
  'tracking',
]

/**
 * The whole examination: each failure is told to the operator, and settled when it is good again. Warnings
 * are only in the log and in the answer, as they need not wake anybody.
 */
export async function tellFindings(
  deps: Omit<DoctorDeps, 'read'> & { store: Store; clock: Clock },
): Promise<Record<'ok' | 'warnings' | 'failures' | 'unchecked', number>> {
  const { store, clock, config } = deps
  const ownNotices = noticesOf(nameBesideOthers(config))
  const findings = await examine({ ...deps, read: store.read })
  const told = findings.filter(
    ({ state, check }) => state === 'fail' && !lookedAtElsewhere.includes(check),
  )
  await store.write(async (tx) => {
    const now = clock.now()
    // Only the findings of the node with the calendar are kept; those of other nodes are only told.
    if (holds(store.node, 'calendar')) await keepFindings(tx, findings, now)
    for (const one of told) {
      await notice(tx, {
        kind: 'doctor',
        key: ownNotices.key(keyOf(one)),
        severity: 'daily',
        now,
        text: ownNotices.text([`Doctor: ${one.check} of ${one.subject} fails`, one.found]),
        fix: [one.fix, 'posthorn doctor'],
      })
    }
    const still = new Set(told.map(keyOf))
    for (const { key: whole } of await openOfKind(tx, 'doctor')) {
      if (!ownNotices.isOwn(whole)) continue
      const key = ownNotices.plain(whole)
      if (!still.has(key) && isKnown(findings, key))
        await settled(tx, { kind: 'doctor', key: whole, now })
    }
  })
  const count = (state: string) => findings.filter((one) => one.state === state).length
  return {
    ok: count('ok'),
    warnings: count('warn'),
    failures: count('fail'),
    unchecked: count('unchecked'),
  }
}

const keyOf = ({ check, subject }: Pick<Finding, 'check' | 'subject'>) => `${check} ${subject}`

// Checks whose subjects another check finds: without an address there is no finding about its PTR.
const foundBy: Readonly<Record<string, string>> = { ptr: 'helo' }

/**
 * Whether an examination says anything about an earlier finding: without an answer this time, nothing is known to be
 * mended. A subject that it does not name may be gone (an address, a domain), or its check may have found no subject,
 * because the DNS was silent or the check was not done.
 */
function isKnown(findings: readonly Finding[], key: string): boolean {
  const about = findings.filter((one) => keyOf(one) === key)
  if (about.length > 0) return about.every(({ state }) => state !== 'unchecked')
  const name = key.slice(0, key.indexOf(' '))
  const silent = findings.filter(({ state }) => state === 'unchecked')
  const isDone = !silent.some(
    ({ check, subject }) => subject === undoneCheck || check === name || check === foundBy[name],
  )
  return isDone && findings.every(({ check, state }) => check !== 'dns' || state === 'ok')
}

/** Keeps an examination's findings in place of the previous ones. */
async function keepFindings(tx: Tx, findings: readonly Finding[], at: number): Promise<void> {
  await tx.deleteFrom('doctor_findings').execute()
  for (const finding of findings) {
    await tx
      .insertInto('doctor_findings')
      .values({ ...finding, at })
      .execute()
  }
}

/**
 * The findings of the job `doctor`'s last examination, and their time; `at` is null before the first one.
 */
export async function readFindings(
  read: Read,
): Promise<{ at: number | null; findings: Finding[] }> {
  const rows = await read.selectFrom('doctor_findings').selectAll().orderBy('id').execute()
  return {
    at: rows[0]?.at ?? null,
    findings: rows.map(({ check, subject, state, found, fix }) => ({
      check,
      subject,
      state,
      found,
      fix,
    })),
  }
}
