import { idsIn, type Read, uuidTime } from '../../store/index.js'

/** When the newest run of each of some automations began; what never had one is missing. */
export async function lastStarts(
  read: Read,
  ids: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  // The ends of two indexes for each, as ids rise with time.
  const rows = await read
    .selectFrom('automations')
    .select('id')
    .select(({ selectFrom }) => [
      selectFrom('automation_live')
        .select(({ fn }) => fn.max<string | null>('automation_live.id').as('id'))
        .whereRef('automation_id', '=', 'automations.id')
        .as('live'),
      selectFrom('automation_runs')
        .select(({ fn }) => fn.max<string | null>('automation_runs.id').as('id'))
        .whereRef('automation_id', '=', 'automations.id')
        .as('ended'),
    ])
    .where('id', 'in', idsIn(ids, 'text'))
    .execute()
  return new Map(
    rows.flatMap(({ id, live, ended }): [string, number][] => {
      const latest = [live, ended]
        .filter((one) => one !== null)
        .sort()
        .at(-1)
      return latest === undefined ? [] : [[id, uuidTime(latest)]]
    }),
  )
}
