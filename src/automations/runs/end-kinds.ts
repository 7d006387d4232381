import { prepared, type Read } from '../../store/index.js'

/*
 * How runs end, in people's words. The API calls all of these `exited`; but a contact whose run a step, an event or the
 * goal has ended has not left, and nobody must believe so.
 */

/**
 * A drawn end or a wait that leads nowhere; an event that ends runs everywhere; the goal; or the contact left on the
 * way.
 */
export type EndKind = 'step' | 'event' | 'goal' | 'left'

/** Reasons by which runs end on purpose without a drawn end, with their kind of end. */
export const meantReasons = { timed_out: 'step', exit_rule: 'event', goal: 'goal' } as const

/**
 * What ended a run; undefined where it is still under way or came to the end. `exits`: the numbers of the drawn ends.
 */
export function endKindOf(
  { status, step_id, reason }: { status: string; step_id: number; reason?: string | null },
  exits: ReadonlySet<number>,
): EndKind | undefined {
  if (status === 'failed' || status === 'cancelled') return 'left'
  if (status !== 'exited') return undefined
  // An author may give a drawn end the same reason as another kind of end.
  if (exits.has(step_id)) return 'step'
  const isMeant = reason === 'timed_out' || reason === 'exit_rule' || reason === 'goal'
  return isMeant ? meantReasons[reason] : 'left'
}

/** The numbers of an automation's drawn ends, of all its versions. */
export async function drawnEnds(read: Read, automationId: string): Promise<number[]> {
  const rows = await exitsOf(read, { automationId })
  return rows.map(({ id }) => id)
}

const exitsOf = prepared<{ automationId: string }, { id: number }>((db, { automationId }) =>
  db
    .selectFrom('automation_steps')
    .select('id')
    .where('automation_id', '=', automationId)
    .where('type', '=', 'exit'),
)
