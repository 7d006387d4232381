import type { Clock } from '../clock/index.js'
import { notice, openOfKind, settled } from '../notices/index.js'
import type { Read, Store, Tx } from '../store/index.js'
import { examine } from './examine.js'
import type { DoctorDeps, Finding } from './finding.js'

/** What jobs of their own look at more often, or in more depth. */
const lookedAtElsewhere = [
  ...['blocklist', 'certificate', 'disk', 'dkim', 'jobs', 'return-path', 'tracking'],
]

/**
 * The whole examination, of which each failure is told to the operator, and settled when it is good again.
 * What only warns is in the log and in the answer: it is nobody's night.
 */
export async function tellFindings(
  deps: Omit<DoctorDeps, 'read'> & { store: Store; clock: Clock },
): Promise<Record<'ok' | 'warnings' | 'failures' | 'unchecked', number>> {
  const { store, clock } = deps
  const findings = await examine({ ...deps, read: store.read })
  const keyOf = ({ check, subject }: { check: string; subject: string }) => `${check} ${subject}`
  const told = findings.filter(
    ({ state, check }) => state === 'fail' && !lookedAtElsewhere.includes(check),
  )
  await store.write(async (tx) => {
    const now = clock.now()
    await keepFindings(tx, findings, now)
    for (const one of told) {
      await notice(tx, {
        ...{ kind: 'doctor', key: keyOf(one), severity: 'daily', now },
        text: [`Doctor: ${one.check} of ${one.subject} fails`, one.found],
        fix: [one.fix, 'posthorn doctor'],
      })
    }
    const still = new Set(told.map(keyOf))
    // Where nobody answered this time, nothing is known to be mended.
    const unsure = new Set(findings.filter(({ state }) => state === 'unchecked').map(keyOf))
    for (const { key } of await openOfKind(tx, 'doctor')) {
      if (!still.has(key) && !unsure.has(key)) await settled(tx, { kind: 'doctor', key, now })
    }
  })
  const count = (state: string) => findings.filter((one) => one.state === state).length
  return {
    ...{ ok: count('ok'), warnings: count('warn') },
    ...{ failures: count('fail'), unchecked: count('unchecked') },
  }
}

/** Keeps an examination's findings, in the place of those before. */
async function keepFindings(tx: Tx, findings: readonly Finding[], at: number): Promise<void> {
  await tx.deleteFrom('doctor_findings').execute()
  for (const finding of findings) {
    await tx
      .insertInto('doctor_findings')
      .values({ ...finding, at })
      .execute()
  }
}

/** What the last examination of the job `doctor` has found, and when; `at` is null before the first one. */
export async function readFindings(
  read: Read,
): Promise<{ at: number | null; findings: Finding[] }> {
  const rows = await read.selectFrom('doctor_findings').selectAll().orderBy('id').execute()
  return {
    at: rows[0]?.at ?? null,
    findings: rows.map(({ check, subject, state, found, fix }) => ({
      ...{ check, subject, state, found, fix },
    })),
  }
}
