import type { BodyOf } from '../contract/index.js'
import { ApiError } from '../errors/index.js'
import { plainAddress } from '../http/index.js'
import type { submitForm } from './contract.js'
import type { FormDesk } from './desk.js'
import type { SignupForm } from './form.js'
import { readTyped } from './typed.js'
import { wordsIn } from './words/index.js'

/**
 * Takes a submission of an account's own front end; `visitor` is the IP address of the person who filled it in, if
 * known. The answer is the same for every address. Throws a 422 for what is empty or wrong, and a 409 while the form is
 * stopped: nothing is kept then.
 */
export async function takeSubmission(
  desk: FormDesk,
  form: SignupForm,
  { email, agreed, topics, fields = {}, page = '', work }: BodyOf<typeof submitForm>,
  visitor: string | undefined,
): Promise<{ message: string }> {
  const values = new Map(
    Object.entries(fields).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name, value]] : [],
    ),
  )
  // A front end that sends no topics has shown none.
  const ticked = { topics: topics ?? [], offered: topics && form.settings.topics }
  const words = wordsIn[form.settings.language]
  const typed = readTyped(form.settings, { email, agreed, values, ...ticked }, words)
  if ('faults' in typed) {
    const [field = '', message] = [...typed.faults][0] ?? []
    throw new ApiError('validation_error', message ?? '', { status: 422, fields: { field } })
  }
  const network = visitor && plainAddress(visitor)
  const hasWorked = work !== undefined && desk.hasWorked(form, email, work)
  const held = await desk.submit(form, { ...typed, page, network, hasWorked })
  if (held === 'stopped') {
    throw new ApiError('conflict', `${words.closed.title}. ${words.closed.lines[0]}`)
  }
  return { message: words.sent.title }
}
