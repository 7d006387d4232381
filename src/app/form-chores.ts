import { forgetEntries } from '../forms/index.js'
import type { Front } from './front.js'
import type { Ground } from './ground.js'
import type { Chore } from './housekeeping.js'

/** What forms have to do now and then: write their figures, ask once more, forget people who have not confirmed. */
export const formChores = (
  { store, clock }: Pick<Ground, 'store' | 'clock'>,
  { forms, desk }: Pick<Front, 'forms' | 'desk'>,
): Chore[] => [
  { name: 'figures of forms', of: 'node', everyMs: 2_000, run: () => forms.tallies.flush(store) },
  {
    name: 'what was sent in and not confirmed',
    of: 'chores',
    everyMs: 60_000,
    async run(stop) {
      await forgetEntries({ store }, clock.now(), stop)
      await desk()?.remind(stop)
    },
  },
]
