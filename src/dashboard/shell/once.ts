import { keepNewest } from '../../bounded/index.js'
import { type Clock, isRecent } from '../../clock/index.js'
import { ApiError } from '../../errors/index.js'
import type { Form, PageRequest } from '../../http/index.js'
import type { PageAnswer } from './answer.js'
import type { NodeMemory } from './node-memory.js'

/** The shell's own fields in a form of a page begin with this. */
export const ownPrefix = 'posthorn-'

/** The hidden field that each form of ours has: its value is good once. */
const field = `${ownPrefix}once`

/** The result of a POST. `done`: something was changed, and the audit log must have it. */
export interface Deed {
  answer: PageAnswer
  done: boolean
}

/** Does the work of a form once, however often the form is sent. */
export interface OnceForms {
  run(who: string, request: PageRequest, work: () => Promise<Deed>): Promise<Deed>
}

/** The document with the value in each form that is sent by POST; each document has another value (`newId`). */
export function withOnce(html: string, value: string): string {
  const hidden = `<input type="hidden" name="${field}" value="${value}">`
  return html.replace(/<form\b[^>]*\bmethod="post"[^>]*>/g, (form) => form + hidden)
}

/**
 * A key for the work of this form; it differs for each form and each content. Undefined: no page of ours made the
 * form.
 */
export const onceKey = (form: Form): string | undefined =>
  form.get(field) === undefined ? undefined : `form ${form.digest()}`

const mostKept = 10_000
// A second click comes within a second or two, or a few more over a slow line. Answers are not kept longer, because
// one may show a secret.
const answeredMs = 10_000
const doneAlready =
  'This form was sent already, and what it asks for is done: open its page again to do it once more'

/**
 * A double click sends a form twice, and the browser shows only the second answer. So the second request waits and
 * gets the answer of the first. Later the same form is told that it was sent already. Whoever goes back and changes
 * something sends another form, and so does whoever was refused. This is kept in memory: after a restart a form may
 * do its work again, except the form of a new mail. Of several nodes the one that made the page knows which node has
 * begun; a second click at another node is told that the form was sent.
 */
export function makeOnceForms(clock: Clock, memory: NodeMemory): OnceForms {
  const deeds = new Map<string, { deed?: Promise<Deed>; doneAt?: number }>()
  const begun = new Map<string, true>()
  const begin = memory.keeps('form that is sent', (id) => {
    if (begun.has(id)) return 'before'
    keepNewest(begun, id, true, mostKept)
    return 'now'
  })
  const undo = memory.keeps('form that was refused', (id) => {
    begun.delete(id)
    return ''
  })

  const forgetAnswers = (now: number) => {
    for (const known of deeds.values()) {
      if (known.doneAt === undefined) continue
      if (isRecent(known.doneAt, now, answeredMs)) break
      known.deed = undefined
    }
  }

  return {
    async run(who, request, work) {
      const form = onceKey(request.form)
      // Our own script or another program sends each request on purpose.
      if (form === undefined) return await work()
      const key = `${who} ${request.path} ${form}`
      forgetAnswers(clock.now())
      const before = deeds.get(key)
      if (before !== undefined) {
        if (before.deed === undefined) throw new ApiError('conflict', doneAlready)
        return { answer: (await before.deed).answer, done: false }
      }
      const id = `${request.form.get(field)} ${key}`
      const isBegun = begin(id).then((when) => when === 'before')
      const deed = isBegun.then((isSecond) => {
        if (isSecond) throw new ApiError('conflict', doneAlready)
        return work()
      })
      const known: { deed?: Promise<Deed>; doneAt?: number } = { deed }
      keepNewest(deeds, key, known, mostKept)
      const forget = async () => {
        deeds.delete(key)
        if (!(await isBegun)) await undo(id)
      }
      try {
        const { done } = await deed
        known.doneAt = clock.now()
        // Nothing was done: the same form may succeed a little later.
        if (!done) await forget()
      } catch (error) {
        await forget()
        throw error
      }
      return await deed
    },
  }
}
