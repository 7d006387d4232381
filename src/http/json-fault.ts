// Everybody waits meanwhile. The scan is ten times slower than JSON.parse, so it reads only a part, in
// 20 ms.
const maxChars = 1024 * 1024
const maxTokens = 50_000
// Except strings: a token that is cut inside looks like a fault.
const longestToken = 1_000

/**
 * Where and why `text` stops being JSON: 'line 2, column 7: expected a value'. Only called for text that JSON.parse
 * refused. One pass over its beginning without recursion, so that neither length nor depth can hurt. jsonc-parser
 * 3.3 ends with a stack overflow at 200,000 open brackets, and goes on after the first fault: half a million of
 * them in 1 MB took it 0.2 s (24 Nov 2026).
 */
export function locateJsonFault(text: string): string {
  const beginning = text.slice(0, maxChars)
  const fault = findFault(beginning)
  if (fault === undefined || (fault.at > maxChars - longestToken && text.length > maxChars)) {
    return 'the fault is far from its beginning'
  }
  const before = text.slice(0, fault.at)
  const line = before.split('\n').length
  const column = fault.at - (before.lastIndexOf('\n') + 1) + 1
  const end = fault.at >= text.length ? ' but the text ends' : ''
  return `line ${line}, column ${column}: expected ${fault.expected}${end}`
}

interface Fault {
  at: number
  expected: string
}

type Expecting = 'value' | 'value or ]' | 'name' | 'name or }' | ':' | ', or }' | ', or ]' | 'end'

const wording: Record<Expecting, string> = {
  value: 'a value',
  'value or ]': 'a value or ]',
  name: 'a name in double quotes',
  'name or }': 'a name in double quotes or }',
  ':': ':',
  ', or }': ', or }',
  ', or ]': ', or ]',
  end: 'nothing more',
}

/** Undefined after too many tokens. */
function findFault(text: string): Fault | undefined {
  const open: ('{' | '[')[] = []
  let expecting: Expecting = 'value'
  let at = 0
  const afterValue = (): Expecting => {
    const inside = open.at(-1)
    return inside === undefined ? 'end' : inside === '{' ? ', or }' : ', or ]'
  }
  for (let tokens = 0; tokens < maxTokens; tokens++) {
    at = skip(/[ \t\n\r]*/y, text, at)
    const char = text[at]
    const fault = { at, expected: wording[expecting] }
    if (char === undefined) return fault
    if (char === '"' && /value|name/.test(expecting)) {
      const end = stringEnd(text, at)
      if (typeof end !== 'number') return end
      expecting = expecting.startsWith('name') ? ':' : afterValue()
      at = end
    } else if ((char === '{' || char === '[') && expecting.startsWith('value')) {
      open.push(char)
      expecting = char === '{' ? 'name or }' : 'value or ]'
      at++
    } else if ((char === '}' || char === ']') && expecting.endsWith(char)) {
      open.pop()
      expecting = afterValue()
      at++
    } else if (char === ',' && expecting.startsWith(',')) {
      expecting = open.at(-1) === '{' ? 'name' : 'value'
      at++
    } else if (char === ':' && expecting === ':') {
      expecting = 'value'
      at++
    } else if (expecting.startsWith('value')) {
      const end = skip(/true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y, text, at)
      if (end === at) return fault
      expecting = afterValue()
      at = end
    } else {
      return fault
    }
  }
  return undefined
}

function skip(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : at
}

/** The index after the string that starts at `start`, or its fault. */
function stringEnd(text: string, start: number): number | Fault {
  let at = start + 1
  while (at < text.length) {
    const char = text[at]
    if (char === '"') return at + 1
    if (char === '\\') {
      const end = skip(/\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y, text, at)
      if (end === at) return { at, expected: 'a valid escape' }
      at = end
    } else if (text.charCodeAt(at) < 0x20) {
      return { at, expected: 'a control character to be escaped' }
    } else {
      at++
    }
  }
  return { at, expected: 'the closing quote of a string' }
}
