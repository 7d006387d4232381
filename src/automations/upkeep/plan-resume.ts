import { nextTurn } from '../../bounded/index.js'
import type { Read } from '../../store/index.js'
import type { Automation, CompiledStep, Versions } from '../definition/index.js'
import type { HeldRelease } from '../runs/index.js'

/** What resuming would do now: how many runs are held, and how many mails each way would make at once, at most. */
export interface ResumePlan {
  held: number
  mails: Record<HeldRelease, number>
  /** False: so many are held that only the first of them were looked at. */
  isAll: boolean
}

// Some milliseconds of the thread, in between which others have their turn.
const perLook = 1_000
const mostLookedAt = 50_000

/** Looks at held runs of an automation, step by step; nothing is written. */
export async function planResume(
  { read, versions }: { read: Read; versions: Versions },
  { id }: Pick<Automation, 'id'>,
  now: number,
): Promise<ResumePlan> {
  const plan: ResumePlan = { held: 0, mails: { shift: 0, now: 0, skip: 0 }, isAll: true }
  const ahead = new Map<string, number>()
  for (let after = ''; ; ) {
    const rows = await heldSlice(read, id, after)
    for (const row of rows) {
      const name = `${row.step_id} ${row.woken_by !== null}`
      const known = ahead.get(name)
      const mails = known ?? (await mailsAhead({ read, versions }, id, row))
      if (known === undefined) ahead.set(name, mails)
      plan.held += 1
      const dueAt = row.held_due_at ?? now
      if (dueAt <= now) plan.mails.now += mails
      // As in `releaseRuns`: these are not put off.
      const isAtOnce =
        row.woken_by !== null || row.blocked !== null || dueAt <= (row.held_at ?? now)
      if (isAtOnce) plan.mails.shift += mails
    }
    after = rows.at(-1)?.id ?? ''
    if (rows.length < perLook) return plan
    if (plan.held >= mostLookedAt) return { ...plan, isAll: false }
    await nextTurn()
  }
}

interface HeldRow {
  id: string
  version: number
  step_id: number
  woken_by: number | null
  blocked: string | null
  held_at: number | null
  held_due_at: number | null
}

const heldSlice = (read: Read, automationId: string, after: string): Promise<HeldRow[]> =>
  read
    .selectFrom('automation_live')
    .select(['id', 'version', 'step_id', 'woken_by', 'blocked', 'held_at', 'held_due_at'])
    .where('automation_id', '=', automationId)
    .where('held_at', 'is not', null)
    .where('id', '>', after)
    .orderBy('id')
    .limit(perLook)
    .execute()

async function mailsAhead(
  { read, versions }: { read: Read; versions: Versions },
  id: string,
  { version, step_id: stepId, woken_by: wokenBy }: HeldRow,
): Promise<number> {
  const { compiled } = await versions(read, id, version)
  const step = compiled.byId.get(stepId)
  return step === undefined ? 0 : mailsAtOnce(step, wokenBy !== null)
}

/** The most mails that a run makes from a step on before it waits again. The step's own wait, if it is one, is over. */
export function mailsAtOnce(from: CompiledStep, isWoken: boolean): number {
  const begun = new Set<CompiledStep>()
  const most = (steps: readonly (CompiledStep | undefined)[]) =>
    Math.max(0, ...steps.map((one) => (one === undefined ? 0 : onwards(one))))
  const onwards = (step: CompiledStep): number => {
    const { type } = step.step
    // A loop passes a wait, and so ends here.
    if (type === 'delay' || type === 'wait_for_event' || begun.has(step)) return 0
    begun.add(step)
    const mails = (type === 'send_email' ? 1 : 0) + most([...step.next.values()])
    begun.delete(step)
    return mails
  }
  switch (from.step.type) {
    case 'delay':
      return most([from.next.get('default')])
    case 'wait_for_event':
      return most([from.next.get(isWoken ? 'event_received' : 'timeout')])
    default:
      return onwards(from)
  }
}
