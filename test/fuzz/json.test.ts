import { isUtf8 } from 'node:buffer'
import { ApiError } from '../../src/errors/index.js'
import { parseJsonObject } from '../../src/http/json-body.js'
import { bytesOf, fuzz } from './driver.js'

const seeds = [
  '{"from":"a@b.test","to":["c@d.test"],"subject":"x","html":"<p>x</p>","metadata":{"a":[1,{}]}}',
  '{"a":"\\u00e9\\ud83d\\ude00\\n","b":[],"c":{},"d":null,"e":true,"f":-0.5e-3}',
  `${Buffer.from('{"name":"Zoë 📯"}').toString('latin1')}\n`,
  '\xef\xbb\xbf{"bom":1}',
  '[1,2,3]',
  '"text"',
]
const tokens = [
  '{',
  '}',
  '[',
  ']',
  '"',
  ':',
  ',',
  '\\',
  '\\u',
  '\\ud800',
  '\0',
  '\x1f',
  '\n',
  '\x7f',
  ' ',
  '\xff',
  '\xc3',
  '\xed\xa0\x80',
  'null',
  'tru',
  '-',
  '1e999',
  '00',
  '0.',
  '__proto__',
  '//',
  '{"a":',
  '[[',
  '"__proto__":{"x":1},',
  '\xef\xbb\xbf',
]

/** What JSON.parse makes of it, if that is an object: the parser takes these and no other. */
function oracle(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) return undefined
  try {
    const value = JSON.parse(bytes.toString('utf8').replace(/^\uFEFF/, ''))
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

fuzz('JSON bodies', 8_000, { seeds, tokens }, (input) => {
  const bytes = bytesOf(input)
  const expected = oracle(bytes)
  try {
    const value = parseJsonObject(bytes)
    if (expected === undefined) return 'it takes what is not a JSON object'
    return JSON.stringify(value) === JSON.stringify(expected) ? undefined : 'it reads another value'
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    if (expected !== undefined) return `it refuses a good one: ${error.message}`
    if (error.message.length > 200) return 'the complaint is long, so it may quote the body'
    const [, line, column] = /line (\d+), column (\d+)/.exec(error.message) ?? []
    if (line === undefined) return undefined
    const lines = bytes.toString('utf8').split('\n')
    const length = lines[Number(line) - 1]?.length ?? -2
    return Number(column) <= length + 1 ? undefined : `no such place: ${error.message}`
  }
})
