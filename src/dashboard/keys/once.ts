import { randomUUID } from 'node:crypto'
import { keepNewest } from '../../bounded/index.js'
import { ApiError } from '../../errors/index.js'

/** Makes sure that each form that makes a secret is sent only once. */
export interface FormTokens {
  /** For a hidden field of the form. */
  token(): string
  /** Throws a 422 for a bad token, and a 409 where a form with this token was sent before and made something. */
  run<T>(token: string, make: () => Promise<T>): Promise<T>
}

const mostKept = 10_000
const isUuid = (text: string) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text)
const notOurs = 'This form is not one that this page has made: open it again and send it'
const alreadyMade =
  'This was made already and shown once; it cannot be shown again. If nobody kept it, make another one'

/**
 * A page that shows a secret answers a POST, so reloading it, or going back to it, would make another secret that
 * nobody keeps. Used tokens are kept in memory: after a restart at worst one more secret is made.
 */
export function makeOnce(): FormTokens {
  const used = new Map<string, true>()
  return {
    token: randomUUID,
    async run(token, make) {
      // Tokens come from the browser and are kept, so only short ones of our own form are taken.
      if (!isUuid(token)) throw new ApiError('validation_error', notOurs)
      if (used.has(token)) throw new ApiError('conflict', alreadyMade)
      // Noted before the work: otherwise two clicks at once would both make a secret.
      keepNewest(used, token, true, mostKept)
      try {
        return await make()
      } catch (error) {
        // Nothing was made: the same form may be sent again after a correction.
        used.delete(token)
        throw error
      }
    },
  }
}
