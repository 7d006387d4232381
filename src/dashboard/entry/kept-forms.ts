import { type Clock, isRecent } from '../../clock/index.js'
import type { NodeMemory } from '../shell/node-memory.js'

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
  find(token: string | undefined): Promise<KeptForm | undefined>
}

/** How long one waits for its log-in. */
export const keptMs = 30 * 60_000
// Anybody can send forms: those of before go, so that all together never take more of the memory.
const mostChars = 16 * 1024 * 1024

/** In memory: a restart forgets them, as it does not forget a session. */
export function makeKeptForms(clock: Clock, memory: NodeMemory): KeptForms {
  // In the order in which they came.
  const forms = new Map<string, { form: KeptForm; at: number; chars: number }>()
  let all = 0

  const forget = (token: string) => {
    all -= forms.get(token)?.chars ?? 0
    forms.delete(token)
  }

  const ask = memory.keeps('form', (token) => {
    const known = forms.get(token)
    if (known === undefined) return undefined
    if (isRecent(known.at, clock.now(), keptMs)) return JSON.stringify(known.form)
    forget(token)
    return undefined
  })

  return {
    keep(before, form) {
      const token = before !== undefined && forms.has(before) ? before : memory.newId()
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
    async find(token) {
      const found = token === undefined ? undefined : await ask(token)
      return found === undefined ? undefined : (JSON.parse(found) as KeptForm)
    },
  }
}
