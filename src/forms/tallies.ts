import { keepNewest } from '../bounded/index.js'
import type { Store } from '../store/index.js'
import type { HeldReason } from './limits.js'

interface Tally {
  shown: number
  sentIn: number
  held: Map<HeldReason, number>
}

// Enough for all accounts: strangers cannot make forms.
const mostForms = 10_000

export type FormTallies = ReturnType<typeof makeFormTallies>

/**
 * Figures that a flood can drive up are counted in memory, and written every few seconds: a kill loses those seconds.
 */
export function makeFormTallies() {
  let tallies = new Map<string, Tally>()
  const of = (formId: string): Tally => {
    const tally = tallies.get(formId) ?? { shown: 0, sentIn: 0, held: new Map() }
    keepNewest(tallies, formId, tally, mostForms)
    return tally
  }
  return {
    shown: (formId: string) => void of(formId).shown++,
    sentIn: (formId: string) => void of(formId).sentIn++,
    held(formId: string, reason: HeldReason) {
      const { held } = of(formId)
      held.set(reason, (held.get(reason) ?? 0) + 1)
    },
    async flush(store: Store): Promise<void> {
      if (tallies.size === 0) return
      const written = [...tallies]
      tallies = new Map()
      for (const [formId, tally] of written) {
        await store.write((tx) => addTally(tx, formId, tally))
      }
    },
  }
}

async function addTally(
  tx: Parameters<Parameters<Store['write']>[0]>[0],
  formId: string,
  { shown, sentIn, held }: Tally,
): Promise<void> {
  let heldBack = 0
  for (const count of held.values()) heldBack += count
  const { numUpdatedRows } = await tx
    .updateTable('forms')
    .set((eb) => ({
      shown: eb('shown', '+', shown),
      sent_in: eb('sent_in', '+', sentIn),
      held_back: eb('held_back', '+', heldBack),
    }))
    .where('id', '=', formId)
    .executeTakeFirstOrThrow()
  if (numUpdatedRows === 0n) return
  for (const [reason, count] of held) {
    await tx
      .insertInto('form_held')
      .values({ form_id: formId, reason, held: count })
      .onConflict((conflict) =>
        conflict.columns(['form_id', 'reason']).doUpdateSet((eb) => ({
          held: eb('form_held.held', '+', count),
        })),
      )
      .execute()
  }
}
