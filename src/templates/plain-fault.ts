import { nearestName } from './nearest-name.js'

/*
 * What Liquid's parser says about a tag, in words for the person who wrote it: which tag it is, and what to write.
 * Messages that are not known here stay as they are.
 */

/** Where the parser stopped: in which text, and at which character. */
interface Stop {
  input: string
  begin: number
}

const mostShown = 60

/** A fault of syntax, in words that begin in lower case. `filters`: the filters that exist. */
export function plainFault(
  message: string,
  stop: Stop,
  filters: readonly string[],
): { message: string; isOfPair?: true } {
  for (const [pattern, words, ofPair] of rules) {
    const match = pattern.exec(message)
    if (match === null) continue
    const plain = words(tagAt(stop), match, { stop, filters })
    return ofPair === undefined ? { message: plain } : { message: plain, isOfPair: true }
  }
  return { message }
}

interface Around {
  stop: Stop
  filters: readonly string[]
}

type Words = (tag: string, match: RegExpExecArray, around: Around) => string

// Faults of tags that come in pairs: the other one may be in another text of the mail.
const ofPair = 'of a pair'

const rules: readonly (readonly [RegExp, Words, typeof ofPair?])[] = [
  [/^output .* not closed$/s, (_tag, _match, { stop }) => unclosed(stop)],
  [
    /^undefined filter: (.+)$/,
    (tag, [, name = ''], { filters }) =>
      `“${name}” in ${tag} is no filter; ${instead(name, filters)}`,
  ],
  [
    /^expected ":" after filter name$/,
    (tag) => `a colon is missing in ${tag}: write it as in {{ firstName | default: "you" }}`,
  ],
  [
    /^unexpected character "[“”„‟‘’]/,
    (tag) => `${tag} has curly quotes; write straight ones: {{ firstName | default: "you" }}`,
  ],
  [
    /^expected filter name$/,
    (tag) =>
      `${tag} has ${tag.includes('||') ? '|| in it' : 'nothing after a |'}; write it as in {{ firstName | default: "you" }}`,
  ],
  [
    /^invalid value expression: "\{/,
    (tag) => `${tag} has too many braces; write two on each side: {{ firstName }}`,
  ],
  [
    /^invalid value expression: ""$/,
    (tag) =>
      tag.startsWith('{%')
        ? `${tag} has no condition; write it as in {% if city == "Paris" %}`
        : `${tag} names no field; write one between the braces: {{ firstName }}`,
  ],
  [/^expected "\|" before filter$/, (tag) => notRead(tag)],
  [
    /^tag "(?:end(\w+)|(els\w+|when))" not found$/,
    (tag, [, begun, within]) =>
      begun === undefined
        ? `${tag} stands in no condition; ${within === 'when' ? '{% case … %}' : '{% if … %}'} has to come before it`
        : `${tag} ends nothing: no {% ${begun} … %} comes before it`,
    ofPair,
  ],
  [
    /^tag "(.+)" not found$/,
    (tag, [, name = '']) => {
      const nearest = nearestName(name, commands)
      return nearest === undefined
        ? `${tag} is no command; for a value write {{ ${shortTag(name)} }}`
        : `${tag} is no command; did you mean {% ${nearest} … %}?`
    },
  ],
  [
    /^tag \{%-?\s*(\w+).* not closed$/s,
    (tag, [, name = '']) => `${tag} has no end; write {% end${name} %} where it ends`,
    ofPair,
  ],
  [/^tag "\{%.*" not closed$/s, (_tag, _match, { stop }) => unclosed(stop, '%}')],
  [/^expected "="$/, (tag) => `${tag} cannot be read; write it as in {% assign city = "Paris" %}`],
  [/^illegal tag/, (tag) => `${tag} cannot be read; look how it is spelled`],
]

const commands = ['if', 'unless', 'case', 'for', 'assign', 'capture', 'else', 'elsif', 'when']

function unclosed({ input, begin }: Stop, end = '}}'): string {
  const rest = input.slice(begin, begin + 2_000)
  const tag = shortTag(rest.split(/[\n<}]/, 1)[0] ?? '')
  if (/^\{\{[^}]*\}\}/.test(rest)) {
    return `${shortTag(/^\{\{[^}]*\}\}/.exec(rest)?.[0] ?? '')} has a quote that does not end; write it as in {{ firstName | default: "you" }}`
  }
  const isSingle = /^\{\{[^{}<\n]*\}(?!\})/.test(rest)
  return isSingle
    ? `the tag ${tag}} ends with one brace; write }} at its end`
    : `the tag ${tag} has no end; write ${end} after it`
}

const instead = (name: string, filters: readonly string[]) => {
  const nearest = nearestName(name, filters)
  return nearest === undefined
    ? 'what stands in for nothing is written as in {{ firstName | default: "you" }}'
    : `did you mean “${nearest}”?`
}

function notRead(tag: string): string {
  if (/&(nbsp|#\w+);/.test(tag)) return `${tag} has a space of HTML in it; type a plain space`
  const isCondition = tag.startsWith('{%') && /[^=!<>]=[^=]/.test(tag)
  return isCondition
    ? `${tag} compares with one =; write ==`
    : `${tag} cannot be read; write it as in {{ firstName | default: "you" }}`
}

/** The tag in which the parser stopped. */
function tagAt({ input, begin }: Stop): string {
  const at = Math.max(input.lastIndexOf('{{', begin + 1), input.lastIndexOf('{%', begin + 1), 0)
  const from = input[at - 1] === '{' ? at - 1 : at
  const rest = input.slice(from, from + 2_000)
  const end = /(?:\}+|%\})/.exec(rest.slice(2))
  return shortTag(end === null ? rest : rest.slice(0, 2 + end.index + end[0].length))
}

function shortTag(tag: string): string {
  const line = tag.replace(/\s+/g, ' ').trim()
  return line.length > mostShown ? `${line.slice(0, mostShown)}…` : line
}
