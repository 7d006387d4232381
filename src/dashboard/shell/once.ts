import { randomUUID } from 'node:crypto'
import { keepNewest } from '../../bounded/index.js'
import { type Clock, isRecent } from '../../clock/index.js'
import { ApiError } from '../../errors/index.js'
import type { Form, PageRequest } from '../../http/index.js'
import type { PageAnswer } from './answer.js'

/** The shell's own fields in a form of a page begin with this. */
export const ownPrefix = 'posthorn-'

/** The hidden field that each form of ours has: its value is good once. */
const field = `${ownPrefix}once`

/** What a POST came to. `done`: something was changed, which the audit log is to have. */
export interface Deed {
  answer: PageAnswer
  done: boolean
}

/** Has what one form asks for done once, however often it is sent. */
export interface OnceForms {
  run(who: string, request: PageRequest, work: () => Promise<Deed>): Promise<Deed>
}

/** A document whose forms, which are sent by POST, have the value; it is another one in each document. */
export function withOnce(html: string): string {
  const hidden = `<input type="hidden" name="${field}" value="${randomUUID()}">`
  return html.replace(/<form\b[^>]*\bmethod="post"[^>]*>/g, (form) => form + hidden)
}

/** A key for what this form asks for, another one for each form and what is typed in it; undefined: no page of ours made it. */
export const onceKey = (form: Form): string | undefined =>
  form.get(field) === undefined ? undefined : `form ${form.digest()}`

const mostKept = 10_000
// A second click comes within a second or two, over a slow line in some more. The answer may show a secret.
const answeredMs = 10_000
const doneAlready =
  'This form was sent already, and what it asks for is done: open its page again to do it once more'

/**
 * A double click sends a form twice, and the browser shows the second answer alone: that is the first one's, once it is
 * there. Later the same form is told that it was sent. Whoever goes back and changes something in it sends another
 * one, and so does who was refused. In memory: after a restart a form may do its work again, but for that of a new mail.
 */
export function makeOnceForms(clock: Clock): OnceForms {
  const deeds = new Map<string, { deed?: Promise<Deed>; doneAt?: number }>()

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
      // A script of ours, or another program: it sends what it means.
      if (form === undefined) return await work()
      const key = `${who} ${request.path} ${form}`
      forgetAnswers(clock.now())
      const before = deeds.get(key)
      if (before !== undefined) {
        if (before.deed === undefined) throw new ApiError('conflict', doneAlready)
        return { answer: (await before.deed).answer, done: false }
      }
      const deed = work()
      const known: { deed?: Promise<Deed>; doneAt?: number } = { deed }
      keepNewest(deeds, key, known, mostKept)
      try {
        const { done } = await deed
        known.doneAt = clock.now()
        // Nothing was done: the same form may be right a little later.
        if (!done) deeds.delete(key)
      } catch (error) {
        deeds.delete(key)
        throw error
      }
      return await deed
    },
  }
}
