import { isoTime } from '../../clock/index.js'
import { type EmailFilter, filterFields, filterOf } from '../../emails/index.js'
import { ApiError } from '../../errors/index.js'
import { check, ShapeError, structOf, type TypeOf, table, uuidForm } from '../../fields/index.js'
import { parseMailbox } from '../../mime/index.js'
import { ranges } from '../shell/time-ranges.js'

const fields = table(filterFields)
type Given = TypeOf<typeof fields>

/** What a page's address asks the log for: the fields of `GET /v1/emails`, and two more for people. */
export interface Wanted {
  filter: EmailFilter
  /** What was understood, as the API's query writes it. */
  given: Given
  /** What was typed into the search field; then the range that was chosen. */
  search: string
  range: string
  /** The mail that was searched for by its id. */
  mailId: string | undefined
  /** What was not understood, as a sentence. */
  fault: string | undefined
}

const names = Object.keys(filterFields) as (keyof Given)[]

/** The filter that an address asks for. If something is wrong with it, the page says so and searches nothing. */
export function wantedOf(query: URLSearchParams, now: number): Wanted {
  const search = (query.get('q') ?? '').trim()
  const range = ranges.find(({ value }) => value === query.get('range')) ?? ranges[0]
  const given: Given = {}
  for (const name of names) {
    const value = query.get(name)?.trim()
    if (value) given[name] = value
  }
  // The search field wins over a field of the same name in the address.
  Object.assign(given, searched(search))
  if (range.ms !== undefined) given.createdAfter = isoTime(now - range.ms)
  const wanted = { given, search, range: range.value }
  try {
    const filter = { ...filterOf(check(given, structOf(fields))), text: freeText(search) }
    const mailId = uuidForm.test(search) ? search.toLowerCase() : undefined
    return { ...wanted, filter, mailId, fault: undefined }
  } catch (error) {
    return { ...wanted, filter: {}, mailId: undefined, fault: faultIn(error) }
  }
}

/** A text that is neither an id nor a whole address: the beginning of an address, or words of a subject. */
const freeText = (text: string) =>
  text === '' || uuidForm.test(text) || 'to' in searched(text) || 'messageId' in searched(text)
    ? undefined
    : text

/** One field finds what people have at hand: an address, a mail's id or its Message-ID. */
function searched(text: string): Given {
  if (text === '' || uuidForm.test(text)) return {}
  // Our Message-IDs begin with the mail's UUID; others stand in angle brackets.
  const isMessageId = /^<[^<>]+>$/.test(text) || uuidForm.test(text.slice(0, text.indexOf('@')))
  if (isMessageId) return { messageId: text }
  return parseMailbox(text) === undefined ? {} : { to: text }
}

/** The first fault as a sentence. An error that is not about the address is thrown on. */
function faultIn(error: unknown): string {
  if (error instanceof ApiError) return `${error.message}.`
  if (!(error instanceof ShapeError)) throw error
  const [issue] = error.issues
  return `${issue?.path[0] ?? 'The filter'}: ${issue?.message ?? error.message}.`
}

/** The query for the same filter with some parts changed; an empty value removes a part. */
export function queryWith(query: URLSearchParams, changes: Record<string, string>): string {
  const parameters = new URLSearchParams()
  for (const name of ['q', 'range', ...names]) {
    const value = changes[name] ?? query.get(name)?.trim() ?? ''
    if (value !== '') parameters.set(name, value)
  }
  if (changes.before) parameters.set('before', changes.before)
  const text = parameters.toString()
  return text === '' ? '' : `?${text}`
}
