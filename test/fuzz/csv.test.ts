// Random files, written by the rules of RFC 4180 in some encoding and cut anywhere, are read back.
import t from 'tap'
import { createAccount } from '../../src/accounts/index.js'
import { systemClock } from '../../src/clock/index.js'
import { readCsv } from '../../src/contacts/csv-records.js'
import {
  type ContactImportCounts,
  createList,
  importContacts,
  requireList,
} from '../../src/contacts/index.js'
import { ApiError } from '../../src/errors/index.js'
import { openTestStore } from '../support/store.js'
import { fuzz, piecesOf, type Random, randomOf, roundsOf } from './driver.js'

const store = await openTestStore(t)
const deps = { store, clock: systemClock }
const { id: accountId } = await createAccount(deps, 'City')
const files = roundsOf(300)
const alphabet = [...'ab ,;\t"\n\r\'é😀0@', '\r\n', '""', ' "', '\u00a0']

function encoded(text: string, encoding: number): Buffer {
  if (encoding === 0) return Buffer.from(text)
  const marked = `\uFEFF${text}`
  if (encoding === 1) return Buffer.from(marked)
  const bytes = Buffer.from(marked, 'utf16le')
  return encoding === 2 ? bytes : bytes.swap16()
}

t.test(`${files} files are read as they were written`, async (t) => {
  for (let seed = 1; seed <= files; seed++) {
    const complaint = await readBack(randomOf(seed))
    if (complaint !== undefined) t.fail(`seed ${seed}: ${complaint}`)
  }
  t.pass('all of them')
})

async function readBack(upTo: Random): Promise<string | undefined> {
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
    const upTo = randomOf(seed)
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

const importTokens = [
  ',',
  ';',
  '"',
  '""',
  '\n',
  '\r\n',
  '\r',
  ' ',
  '@',
  '\0',
  '\xff',
  '{',
  '+49151',
  'a@b.test',
  'email',
  'metadata',
  ',,',
  '{"a":1}',
  'a@b.test\n',
  '"a@c.test","x\ny"\n',
  '\t',
]
const importSeeds = [
  'email,firstName,phone,metadata\na@b.test,Ann,+4915112345678,"{""a"":1}"\nc@d.test,,,\nA@B.test,,,\n',
  'email\na@b.test\nnobody\n\nb@b.test\n',
  'Email;town\r\nx@y.test;Lagos\r\n"z@y.test";"a;b"\r\n',
]

const corpus = { seeds: importSeeds, tokens: importTokens, maxBytes: 2_000 }

// Every row that is read is counted once, whatever is in it, also where the file breaks off.
fuzz('CSV imports', 250, corpus, async (input, upTo) => {
  const bytes = Buffer.from(input, 'latin1')
  let rows = 0
  for await (const record of readCsv(inPieces(bytes, upTo))) {
    if ('reason' in record) break
    rows++
  }
  const { id: listId } = await createList(deps, accountId, 'Readers')
  const { refused, counts } = await importTo(listId, inPieces(bytes, upTo))
  const { imported = 0, skipped = 0, invalid = 0 } = counts
  const all = imported + skipped + invalid
  // The first is the header; without a good one nothing is looked at.
  if (all !== rows - 1 && !(refused && all === 0)) return `${all} of ${rows} records counted`
  const { contactCount } = await requireList(store.read, accountId, listId)
  return contactCount === imported ? undefined : `${contactCount} on the list, not ${imported}`
})

async function importTo(listId: string, file: AsyncIterable<Uint8Array>) {
  const options = { listId, ceiling: null, file: 'a.csv', defaultCountry: 'DE' }
  try {
    const counts: Partial<ContactImportCounts> = await importContacts(
      deps,
      accountId,
      file,
      options,
    )
    return { refused: false, counts }
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500) throw error
    return { refused: true, counts: error.fields as Partial<ContactImportCounts> }
  }
}

async function* inPieces(bytes: Buffer, upTo: Random) {
  yield* piecesOf(bytes, upTo)
}
