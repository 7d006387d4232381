// Random files, written by the rules of RFC 4180 in some encoding and cut anywhere, are read back.
import t from 'tap'
import { readCsv } from '../../src/contacts/csv-records.js'

const files = Number(process.env.POSTHORN_FUZZ ?? 300)
const alphabet = [...'ab ,;\t"\n\r\'é😀0@', '\r\n', '""', ' "', '\u00a0']

/** Numbers that are the same for the same seed (mulberry32). */
function random(seed: number) {
  let state = seed
  return (below: number) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

function encoded(text: string, encoding: number): Buffer {
  if (encoding === 0) return Buffer.from(text)
  const marked = `\uFEFF${text}`
  if (encoding === 1) return Buffer.from(marked)
  const bytes = Buffer.from(marked, 'utf16le')
  return encoding === 2 ? bytes : bytes.swap16()
}

t.test(`${files} files are read as they were written`, async (t) => {
  for (let seed = 1; seed <= files; seed++) {
    const complaint = await readBack(random(seed))
    if (complaint !== undefined) t.fail(`seed ${seed}: ${complaint}`)
  }
  t.pass('all of them')
})

async function readBack(upTo: (below: number) => number): Promise<string | undefined> {
  const delimiter = [',', ';', '\t'][upTo(3)] ?? ','
  const lineEnd = ['\n', '\r\n', '\r'][upTo(3)] ?? '\n'
  const width = 2 + upTo(4)
  const cell = () => Array.from({ length: upTo(8) }, () => alphabet[upTo(alphabet.length)]).join('')
  const rows = [
    Array.from({ length: width }, (_, n) => `column${n}`),
    ...Array.from({ length: upTo(30) }, () => Array.from({ length: width }, cell)),
  ]
  const quoted = (text: string) =>
    /[,;\t"\r\n]/.test(text) || upTo(4) === 0 ? `"${text.replaceAll('"', '""')}"` : text
  const text = rows.map((row) => row.map(quoted).join(delimiter)).join(lineEnd)
  const bytes = encoded(text + (upTo(2) ? lineEnd : ''), upTo(4))
  const read: string[][] = []
  let line = 1
  for await (const record of readCsv(inPieces(bytes, upTo))) {
    if ('reason' in record) return `${record.line}: ${record.reason}`
    if (record.line !== line) return `line ${record.line}, not ${line}`
    line += record.cells.join('|').split(/\r\n|\r|\n/).length
    read.push(record.cells)
  }
  if (JSON.stringify(read) === JSON.stringify(rows)) return undefined
  return `${JSON.stringify(rows)} was read as ${JSON.stringify(read)}`
}

t.test('no bytes make it throw, or read for ever', async (t) => {
  for (let seed = 1; seed <= files; seed++) {
    const upTo = random(seed)
    const length = upTo(400)
    const bytes = Buffer.from(Array.from({ length }, () => [upTo(256), 34, 10, 44][upTo(4)] ?? 0))
    let records = 0
    for await (const record of readCsv(inPieces(bytes, upTo))) {
      records++
      if ('reason' in record && (record.line < 1 || !record.reason)) t.fail(`seed ${seed}`)
    }
    if (records > length + 1) t.fail(`seed ${seed}: ${records} records`)
  }
  t.pass('all of them')
})

async function* inPieces(bytes: Buffer, upTo: (below: number) => number) {
  for (let at = 0; at < bytes.length; ) {
    const end = at + 1 + upTo(40)
    yield bytes.subarray(at, end)
    at = end
  }
}
