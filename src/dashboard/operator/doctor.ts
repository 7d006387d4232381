import { runsOf } from '../../calendar/index.js'
import { readFindings } from '../../doctor/index.js'
import { page } from '../shell/answer.js'
import type { OperatorPages } from '../shell/page.js'
import type { OperatorVisit } from '../shell/visit.js'
import type { OperatorPageDeps } from './deps.js'
import { startJob } from './jobs.js'

/** `/operator/doctor`: what the last examination found, with its fixes, and a button for a new one. */
export function doctorPages(pages: OperatorPages, deps: OperatorPageDeps): void {
  pages.get('/doctor', 'operator.read', (visit) => doctorPage(deps, visit))
  pages.post('/doctor', { action: 'operator.write', sudo: true }, async () =>
    startJob(deps, 'doctor', '/operator/doctor'),
  )
}

// Findings to mend come first.
const order = ['fail', 'warn', 'unchecked', 'ok'] as const
const tones = { fail: 'bad', warn: 'doubt', unchecked: 'none', ok: 'good' } as const
const words = { fail: 'to fix', warn: 'look at it', unchecked: 'not checked', ok: 'good' } as const

/** Shows what the job `doctor` last found: an examination asks the DNS and may take minutes. */
async function doctorPage(
  { store: { read }, config }: OperatorPageDeps,
  { now, may }: OperatorVisit,
) {
  const { at, findings } = await readFindings(read)
  const [last] = await runsOf(read, 'doctor', 1)
  const shown = order.flatMap((state) => findings.filter((one) => one.state === state))
  const view = {
    now,
    at,
    mayRun: may('operator.write'),
    isUnderWay: last !== undefined && last.result === 'running',
    lastError: last?.error ?? '',
    counts: order.map((state) => ({
      state: words[state],
      tone: tones[state],
      count: findings.filter((one) => one.state === state).length,
    })),
    findings: shown.map(({ check, subject, state, found, fix }) => ({
      check,
      subject,
      found,
      fix,
      word: words[state],
      tone: tones[state],
    })),
    isSandbox: config.outbound.route === 'sandbox',
  }
  return page('operator/doctor', view, { title: 'Doctor' })
}
