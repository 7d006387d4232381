import { isDeepStrictEqual } from 'node:util'
import type { Form } from '../../http/index.js'
import type { BlockQuestion } from './fields.js'

/*
 * The answers of cards: as a field shows them, and as a form sends them back. What the API has written need not fit into a
 * field (a line end in an item of a list, spaces around a name): then it is sent along, and stays while nobody changes the field.
 */

/** What a field shows of an answer. */
export function shownAnswer({ kind, options }: BlockQuestion, value: unknown): string {
  if (kind === 'tick') return value === true ? 'on' : ''
  if (kind === 'lines') return ((value as string[] | undefined) ?? []).join('\n')
  if (kind === 'links') {
    const links = (value as { name: string; url: string }[] | undefined) ?? []
    return links.map(({ name, url }) => `${name} ${url}`).join('\n')
  }
  const shown = value === undefined ? '' : String(value)
  // A browser takes the first one where the answer is none of them.
  return kind === 'choice' && !options?.some((one) => one.value === shown) ? '' : shown
}

/** The answer as JSON where a browser would send another one though nobody has changed the field. */
export function lostAnswer(question: BlockQuestion, value: unknown): string | undefined {
  const sent = answerOf(question, sentOf(question, shownAnswer(question, value)))
  return value === undefined || isDeepStrictEqual(sent, value) ? undefined : JSON.stringify(value)
}

/** The answer in a form's field. */
export function answerIn(form: Form, name: string, question: BlockQuestion): unknown {
  const given = sentOf(question, form.get(name) ?? '')
  const was = form.get(wasName(name))
  const kept = was === undefined ? undefined : parsed(was)
  const isUnchanged = kept !== undefined && sentOf(question, shownAnswer(question, kept)) === given
  return isUnchanged ? kept : answerOf(question, given)
}

/** The field beside another that has its answer as it was. */
export const wasName = (name: string): string => `${name}.was`

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

const isOneLine = ({ kind }: BlockQuestion) =>
  kind === 'line' || kind === 'colour' || kind === 'number'

/** HTML §4.10.5.1.2 and §4.10.21.4: a line has no ends of lines, and those of a text are sent as CR LF. */
const sentOf = (question: BlockQuestion, text: string): string =>
  isOneLine(question) ? text.replace(/[\r\n]/g, '') : text.replace(/\r\n?/g, '\n')

/** What an answer is in the document; an empty one is none, but where a text may be empty. */
function answerOf({ kind, name }: BlockQuestion, given: string): unknown {
  switch (kind) {
    case 'tick':
      return given === '' ? undefined : true
    case 'lines':
      return given.split('\n').filter((line) => line.trim() !== '')
    case 'links':
      return given
        .split('\n')
        .filter((line) => line.trim() !== '')
        .map((line) => {
          const [, words = line.trim(), url = ''] = /^\s*(.*?)\s+(\S+)\s*$/.exec(line) ?? []
          return { name: words, url }
        })
    case 'line':
    case 'text':
    case 'code':
      return given === '' && name === 'link' ? undefined : given
    default:
      if (given === '') return undefined
      return kind === 'number' || name === 'level' ? numberOf(given) : given
  }
}

// What is no number stays a text, so that it is refused with its own words.
export const numberOf = (given: string): unknown =>
  /^\d{1,4}$/.test(given) ? Number(given) : given
