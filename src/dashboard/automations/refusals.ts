import { ApiError, type RefusalCode } from '../../errors/index.js'
import type { AccountPages } from '../shell/page.js'

/*
 * Refusals of the automations' functions in the words of pages: the API gives programs the names of its fields and
 * states instead.
 */

type Names = ApiError['names']

// The page's words, and the form's field that they are about.
const table: Readonly<Record<RefusalCode, [says: (names: Names) => string, field?: string]>> = {
  noList: [() => 'This list is deleted; choose another', 'whom'],
  noSegment: [() => 'This segment is deleted; choose another', 'whom'],
  noPage: [() => 'There is no such page of this list. Begin with its first page'],
  inexact: [
    () => 'A number is so long that its last digits would be lost: put it between quotes',
    'payload',
  ],
  noAutomation: [() => 'There is no such automation in this account'],
  archived: [() => 'It is archived: it is stopped for good'],
  neverOn: [([name]) => `“${name}” was never turned on, so nobody is in it`],
  notOn: [([name]) => `“${name}” is off: turn it on first, then people can enter it`],
  noEntry: [([name]) => `“${name}” is archived, so nobody can enter it any more`],
  notPaused: [([name]) => `“${name}” is not paused, and nobody in it is held`],
  tooLarge: [([most]) => `It is larger than ${most} KiB: remove steps, or make two of it`],
  tooManyOn: [([most]) => `At most ${most} automations can be on: turn another off first`],
  tooManyOnEvent: [
    ([most]) =>
      `At most ${most} automations that are on can begin with the same event: turn another off first`,
  ],
  noVersion: [([version]) => `Version ${version} was never turned on; choose another`],
  noStep: [([version]) => `Version ${version} has not that step any more: choose another`],
  noMail: [() => 'A mail that you ticked is gone from this automation: tick it anew'],
  noRun: [() => 'There is nobody here: they have left long ago, or the address is not whole'],
  endedRun: [() => 'They are not in it any more'],
  tooManyRuns: [() => 'This server has too many people in automations just now; try again later'],
}

/** A refusal in the pages' words; one without such words stays as it is. */
function inWords(error: unknown): unknown {
  if (!(error instanceof ApiError) || error.is === undefined) return error
  const { code, status, headers, fields, is, names } = error
  const [says, field] = table[is]
  const about = field === undefined ? fields : { ...fields, field }
  return new ApiError(code, says(names), { status, headers, fields: about, is, names })
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
