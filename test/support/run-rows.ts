/** The account and automation to which the runs belong. */
interface RunsOf {
  account_id: string
  automation_id: string
}

/** The id of a run by its number; ids rise with numbers. */
export const runId = (n: number): string => `019b0000-0000-7000-8000-${String(n).padStart(12, '0')}`

/** The stored row of a live run by its number: it waits at a step practically for ever. */
export const waitingRow = <More extends object>(of: RunsOf, n: number, more: More) => ({
  ...of,
  version: 1,
  history: '[]',
  id: runId(n),
  contact_id: `c${n}`,
  step_id: 1,
  seq: 1,
  status: 'waiting' as const,
  // In the year 2096.
  due_at: 4e12,
  trigger_event: n,
  entered_at: 1,
  attempts: 0,
  steps: 0,
  mails: 0,
  outlives: 0 as const,
  started_at: n,
  updated_at: 1,
  ...more,
})

/** The stored row of a run that has ended, of a contact that has been deleted since. */
export const endedRow = <More extends object>(of: RunsOf, n: number, more: More) => ({
  ...of,
  version: 1,
  history: '[]',
  id: runId(n),
  contact_id: null,
  step_id: 1,
  started_at: n,
  ended_at: n,
  ...more,
})
