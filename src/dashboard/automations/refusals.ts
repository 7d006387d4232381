import { ApiError } from '../../errors/index.js'
import { type PartedIssue, ShapeError } from '../../fields/index.js'
import type { AccountPages } from '../shell/page.js'

/*
 * Refusals of the automations' functions in the words of pages: the API gives programs the names of its fields and
 * states instead.
 */

// The API's message, the page's words, and the form's field that they are about.
const table: readonly (readonly [message: RegExp, says: string, field?: string])[] = [
  [/^The account has no contact list/, 'This list is deleted; choose another', 'whom'],
  [/^The account has no segment/, 'This segment is deleted; choose another', 'whom'],
  [
    /^The account has no automation run/,
    'There is nobody here: they have left long ago, or the address is not whole',
  ],
  [/^The account has no automation/, 'There is no such automation in this account'],
  [/^The run has ended already/, 'They are not in it any more'],
  [/^The automation is archived/, 'It is archived: it is stopped for good'],
  [/^There is no version (\d+) that was/, 'Version $1 was never turned on; choose another'],
  [
    /^Version (\d+) has no step "[^"]*" that people/,
    'Version $1 has not that step any more: choose another',
  ],
  [/^(“.*”) was never enabled/s, '$1 was never turned on, so nobody is in it'],
  [/^(“.*”) is not paused, and none/s, '$1 is not paused, and nobody in it is held'],
  [/^(“.*”) is archived: only an enabled/s, '$1 is archived, so nobody can enter it any more'],
  [
    /^(“.*”) is disabled: only an enabled/s,
    '$1 is off: turn it on first, then people can enter it',
  ],
  [
    /^At most (\d+) automations may be enabled/,
    'At most $1 automations can be on: turn another off first',
  ],
  [
    /^At most (\d+) enabled automations may begin/,
    'At most $1 automations that are on can begin with the same event: turn another off first',
  ],
  [
    /^The automation has more than (\d+) KiB/,
    'It is larger than $1 KiB: remove steps, or make two of it',
  ],
  [
    /^Too many runs of automations are live/,
    'This server has too many people in automations just now; try again later',
  ],
  [
    /^The cursor does not belong to this list/,
    'There is no such page of this list. Begin with its first page',
  ],
  [/^opens: |^clicks: /, 'A mail that you ticked is gone from this automation: tick it anew'],
  [
    /numbers beyond \d+/,
    'A number is so long that its last digits would be lost: put it between quotes',
    'payload',
  ],
]

// The same for values that do not fit a field, which the API describes to programs.
const misfits: readonly (readonly [message: RegExp, says: string])[] = [
  [
    /^Expected a string of 1 to 100 of A-Z/,
    'The name of an event has 1 to 100 letters, digits, and _ . : -; names with $ are those of this server',
  ],
  [
    /^Expected an object of at most \d+ bytes/,
    'What comes with an event may have 16 KiB at most: leave something out',
  ],
]

/** A refusal in the pages' words; one without such words stays as it is. */
function inWords(error: unknown): unknown {
  if (error instanceof ShapeError) {
    const parted = error.parted.map((issue): PartedIssue => {
      const [, says] = misfits.find(([form]) => form.test(issue.message)) ?? []
      return says === undefined ? issue : { ...issue, message: says, misfit: undefined }
    })
    return new ShapeError(parted)
  }
  if (!(error instanceof ApiError)) return error
  const { code, message, status, headers, fields } = error
  for (const [form, says, field] of table) {
    const found = form.exec(message)
    if (found === null) continue
    const words = says.replace(/\$(\d)/g, (_, n) => found[Number(n)] ?? '')
    const about = field === undefined ? fields : { ...fields, field }
    return new ApiError(code, words, { status, headers, fields: about })
  }
  return error
}

async function plainly<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw inWords(error)
  }
}

/** The same pages, with their refusals in words for people. */
export const inPlainWords = (pages: AccountPages): AccountPages => ({
  get: (path, action, show) => pages.get(path, action, (visit) => plainly(() => show(visit))),
  post: (path, options, act) => {
    const { again } = options
    const asked = again && {
      again: (...given: Parameters<typeof again>) => plainly(() => again(...given)),
    }
    pages.post(path, Object.assign({}, options, asked), (visit) => plainly(() => act(visit)))
  },
})
