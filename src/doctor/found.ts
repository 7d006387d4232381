import type { Read, Tx } from '../store/index.js'
import type { Finding } from './finding.js'

/** Keeps an examination's findings, in the place of those before. */
export async function keepFindings(
  tx: Tx,
  findings: readonly Finding[],
  at: number,
): Promise<void> {
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
