import { ApiError } from '../../src/errors/index.js'
import { maxParts, parseMultipart } from '../../src/http/multipart.js'
import { bytesOf, fuzz, pick } from './driver.js'

const contentType = 'multipart/form-data; boundary=b1'
const field = '--b1\r\nContent-Disposition: form-data; name="kind"\r\n\r\nx\r\n'
const file = [
  '--b1\r\nContent-Disposition: form-data; name="file"; filename="a \\"b\\".csv"\r\n',
  'Content-Type: text/csv\r\n\r\nemail\r\na@b.test\r\n',
].join('')
const seeds = [
  `${field}${file}--b1--\r\n`,
  `preamble\r\n${file}--b1--`,
  `--b1 \t\r\ncontent-disposition: form-data; name=a\r\n\r\n\r\n--b1--\r\nepilogue`,
  `${field.repeat(20)}--b1--`,
]
const tokens = [
  '\r\n',
  '\n',
  '\r\n--b1',
  '--b1--',
  '--b1',
  '--',
  '\r\n\r\n',
  '"',
  '\\',
  ';',
  '=',
  '\0',
  '%22',
  'filename="',
  'name="',
  'Content-Disposition: form-data; ',
  'Content-Type: ',
  '\xff',
  ' ',
  "filename*=UTF-8''%e2",
  'A'.repeat(9_000),
  field,
  file,
]

fuzz('multipart bodies', 8_000, { seeds, tokens }, (input) => {
  const body = bytesOf(input)
  try {
    const parts = parseMultipart(body, contentType)
    if (parts.length > maxParts) return `${parts.length} parts`
    let end = body.byteOffset
    for (const { bytes, name } of parts) {
      if (bytes.buffer !== body.buffer) return 'a part was copied'
      if (bytes.byteOffset < end) return 'parts overlap'
      end = bytes.byteOffset + bytes.length
      if (bytes.includes('\r\n--b1')) return 'a boundary is inside a part'
      if (!body.includes('name=') || name.length > body.length) return 'a name from nowhere'
    }
    return end <= body.byteOffset + body.length ? undefined : 'a part ends behind the body'
  } catch (error) {
    if (error instanceof ApiError && error.status === 400) return undefined
    throw error
  }
})

const contents = ['', '\r\n', '\r\n--b', '--b1', '\n--b1--', 'a,b\r\nc', '\0\xff', '\r\n--B1']
const names = ['a', 'file', 'with "quotes"', 'back\\slash', 'ümlaut']

fuzz('multipart bodies that are well made', 1_500, { seeds: [''], tokens: [''] }, (_, random) => {
  const made = Array.from({ length: random(8) + 1 }, () => ({
    name: pick(random, names),
    filename: random(2) === 0 ? undefined : pick(random, names),
    // Its boundary is in no part, and the line end before a part's first byte belongs to that.
    content: ['x', ...Array.from({ length: random(6) }, () => pick(random, contents))].join('x'),
  }))
  const quoted = (text: string) => `"${text.replaceAll(/["\\]/g, '\\$&')}"`
  const written = made.map(({ name, filename, content }) => {
    const also = filename === undefined ? '' : `; filename=${quoted(filename)}`
    const head = `--b1\r\nContent-Disposition: form-data; name=${quoted(name)}${also}\r\n\r\n`
    return Buffer.concat([Buffer.from(head), bytesOf(content), Buffer.from('\r\n')])
  })
  const parts = parseMultipart(Buffer.concat([...written, Buffer.from('--b1--\r\n')]), contentType)
  const read = parts.map(({ name, filename, bytes }) => ({
    name,
    filename,
    content: bytes.toString('latin1'),
  }))
  if (JSON.stringify(read) === JSON.stringify(made)) return undefined
  return `${JSON.stringify(made)} was read as ${JSON.stringify(read)}`
})
