import { randomBytes } from 'node:crypto'
import t from 'tap'
import { makeContent, pieceBytes, putContents } from '../../src/contents/index.js'
import { base64Size } from '../../src/mime/index.js'
import { makeEncodedContents } from '../../src/outbound/content/encoded-contents.js'
import { openTestStore } from '../support/store.js'

t.test('what streams read at the same moment is kept once, and stays', async (t) => {
  const store = await openTestStore(t)
  const bytes = randomBytes(2 * pieceBytes)
  const [id = 0] = await store.write((tx) => putContents(tx, store, 'a', [makeContent([bytes])]))
  // Just room for this one.
  const encoded = makeEncodedContents(store.read, base64Size(bytes.length))
  const read = async () => {
    const lines: Buffer[] = []
    for await (const piece of encoded({ id, sizeBytes: bytes.length })) lines.push(piece)
    return lines
  }
  await Promise.all([read(), read(), read()])
  const first = await read()
  t.equal(Buffer.from(Buffer.concat(first).toString(), 'base64').compare(bytes), 0)
  const second = await read()
  t.ok(
    first.every((piece, i) => piece === second[i]),
    'the same buffers',
  )
})
