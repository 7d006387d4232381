import type { Broadcast } from '../../broadcasts/index.js'
import type { PageLook } from '../shell/answer.js'
import type { Faults } from '../shell/faults.js'

/** The revision of a draft that somebody else has saved since a page was opened; undefined: it is still that page's. */
export const newerThan = (revision: string, draft: Broadcast | undefined): string | undefined =>
  draft === undefined || revision === String(draft.revision) ? undefined : String(draft.revision)

/**
 * What is said above a page of whose draft somebody else has saved a newer revision meanwhile: the page has the buttons
 * that say whose words stay, so that nobody is sent away to open it again.
 */
export const ofTwoWriters = (
  newer: string | undefined,
  faults: Faults,
): Pick<PageLook, 'faults'> =>
  newer === undefined || faults.message === undefined
    ? {}
    : {
        faults: Object.assign({}, faults, {
          message:
            'Somebody else has changed this draft since you opened it, so what you typed is not saved: choose below whose words stay',
        }),
      }
