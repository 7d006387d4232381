import { randomBytes } from 'node:crypto'
import { type Clock, isRecent } from '../../clock/index.js'

/** A form that came after its log-in had ended. */
export interface KeptForm {
  /** Where it was sent, and the page that it was on. */
  to: string
  page: string
  fields: readonly (readonly [string, string])[]
}

/** Forms that wait for a log-in, each for one browser, which alone knows its token. */
export interface KeptForms {
  /** Answers the token; a browser that has one has its latest form under that alone. */
  keep(before: string | undefined, form: KeptForm): string
  find(token: string | undefined): KeptForm | undefined
}

/** How long one waits for its log-in. */
export const keptMs = 30 * 60_000
// Anybody can send forms: those of before go, so that all together never take more of the memory.
const mostChars = 16 * 1024 * 1024

/** In memory: a restart forgets them, as it does not forget a session. */
export function makeKeptForms(clock: Clock): KeptForms {
  // In the order in which they came.
  const forms = new Map<string, { form: KeptForm; at: number; chars: number }>()
  let all = 0

  const forget = (token: string) => {
    all -= forms.get(token)?.chars ?? 0
    forms.delete(token)
  }

  return {
    keep(before, form) {
      const token =
        before !== undefined && forms.has(before) ? before : randomBytes(24).toString('base64url')
      forget(token)
      const chars = form.fields.reduce((sum, [name, value]) => sum + name.length + value.length, 0)
      forms.set(token, { form, at: clock.now(), chars })
      all += chars
      for (const oldest of forms.keys()) {
        if (all <= mostChars) break
        forget(oldest)
      }
      return token
    },
    find(token) {
      const known = token === undefined ? undefined : forms.get(token)
      if (token === undefined || known === undefined) return undefined
      if (isRecent(known.at, clock.now(), keptMs)) return known.form
      forget(token)
      return undefined
    },
  }
}
