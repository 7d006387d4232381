import { comparisonsOf } from '../../rules/index.js'
import type { AutomationDefinition } from './definition.js'
import { reached, successors } from './graph.js'

/** A question about a mail that nobody can have read yet. */
export interface AskedTooSoon {
  /** The step that asks, and the one that sends. */
  key: string
  mail: string
}

/** The conditions that ask for opens or clicks of a mail, to which people come from that mail without any pause. */
export function askedTooSoon({ steps, connections }: AutomationDefinition): AskedTooSoon[] {
  const pauses = new Set(
    steps.filter(({ type }) => type === 'delay' || type === 'wait_for_event').map(({ key }) => key),
  )
  const quick = successors(
    steps,
    connections.filter(({ from }) => !pauses.has(from)),
  )
  return steps.flatMap(({ key, type, config }) => {
    if (type !== 'condition') return []
    const mails = comparisonsOf(config).flatMap(
      ({ field }) => /^email\.(.+)\.(?:opened|clicked)$/.exec(field)?.[1] ?? [],
    )
    return [...new Set(mails)]
      .filter((mail) => reached(quick, quick.get(mail) ?? []).has(key))
      .map((mail) => ({ key, mail }))
  })
}
