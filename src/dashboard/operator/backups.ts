import { basename } from 'node:path'
import { findBackups } from '../../backup/index.js'
import { runsOf } from '../../calendar/index.js'
import { shownFor } from '../../clock/index.js'
import { fileSize } from '../format.js'
import { page } from '../shell/answer.js'
import type { OperatorPages } from '../shell/page.js'
import type { OperatorVisit } from '../shell/visit.js'
import type { OperatorPageDeps } from './deps.js'
import { startJob } from './jobs.js'

const mostShown = 100

/** `/operator/backups`: which backups there are, how old they are, and whether they were checked. */
export function backupPages(pages: OperatorPages, deps: OperatorPageDeps): void {
  pages.get('/backups', 'operator.read', (visit) => backupsPage(deps, visit))
  // Both are jobs of the calendar, which begin now.
  for (const [path, name] of [
    ['/backups/make', 'backup'],
    ['/backups/check', 'backup-check'],
  ] as const) {
    pages.post(path, { action: 'operator.write', sudo: true }, async () =>
      startJob(deps, name, '/operator/backups'),
    )
  }
}

/** The backups in `backup.dir`, and how the last two runs went. */
async function backupsPage(
  { store: { read }, config }: OperatorPageDeps,
  { now, may }: OperatorVisit,
) {
  const { dir, maxAge } = config.backup
  const found = dir === '' ? [] : await findBackups(dir, now)
  const [newest] = found
  const [made] = await runsOf(read, 'backup', 1)
  const [checked] = await runsOf(read, 'backup-check', 1)
  const ageMs = newest === undefined ? undefined : now - newest.madeAt
  const view = {
    now,
    dir,
    isServer: config.store.url !== '',
    mayRun: may('operator.write'),
    age: ageMs === undefined ? undefined : shownFor(ageMs),
    isOld: ageMs === undefined || ageMs > maxAge,
    wanted: shownFor(maxAge),
    runs: [
      { label: 'Last run of the job backup', run: made },
      { label: 'Last check (backup-check)', run: checked },
    ].map(({ label, run }) => ({
      label,
      at: run?.beganAt ?? null,
      result: run?.result ?? '',
      said: run?.error ?? run?.summary ?? '',
    })),
    count: found.length,
    rows: found.slice(0, mostShown).map(({ file, madeAt, sizeBytes, encrypted }) => ({
      file: basename(file),
      madeAt,
      size: fileSize(sizeBytes),
      encrypted,
    })),
  }
  return page('operator/backups', view, { title: 'Backups' })
}
