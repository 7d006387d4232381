import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import type { StreamedMessage } from '../../src/smtp/index.js'
import { stuffDots, stuffDotsOf } from '../../src/smtp/message.js'
import { fakeMx } from '../support/fake-mx.js'
import { open } from './open.js'

const envelope = { from: 'a@sender.test', to: 'b@example.test' }

function streamed(...pieces: (string | Buffer)[]): StreamedMessage {
  const all = pieces.map((piece) => Buffer.from(piece))
  return {
    sizeBytes: all.reduce((sum, piece) => sum + piece.length, 0),
    eightBit: false,
    async *read() {
      for (const piece of all) {
        await setImmediate()
        yield piece
      }
    },
  }
}

async function whole(pieces: AsyncIterable<Buffer>): Promise<string> {
  const all = []
  for await (const piece of pieces) all.push(piece)
  return Buffer.concat(all).toString()
}

t.test('a streamed message is stuffed as one that is held, wherever it is cut', async (t) => {
  const text = '.a\r\n\r\n..b\r\n.\r\nc.\r\n.'
  const expected = Buffer.concat(stuffDots([Buffer.from(text)])).toString()
  for (let cut = 0; cut <= text.length; cut++) {
    t.equal(await whole(stuffDotsOf(streamed(text.slice(0, cut), text.slice(cut)))), expected)
  }
})

t.test(
  'a streamed message arrives byte for byte, with its size, and again on a retry',
  async (t) => {
    const mx = await fakeMx(t, { capabilities: ['PIPELINING', 'SIZE 20971520'] })
    const connection = await open(t, mx)
    const pieces = Array.from({ length: 200 }, (_, i) => `.line ${i}\r\n${'x'.repeat(70)}\r\n`)
    const message = streamed('Subject: hi\r\n\r\n', ...pieces)
    for (let i = 0; i < 2; i++) {
      t.match(await connection.send(envelope, message), { kind: 'accepted', reusable: true })
      t.equal(mx.messages[i]?.raw.toString(), await whole(message.read()))
    }
    t.ok(mx.sessions[0]?.commands.some((line) => line.endsWith(` SIZE=${message.sizeBytes}`)))
  },
)

t.test('a receiver that takes less is not sent a byte of it', async (t) => {
  const mx = await fakeMx(t, { capabilities: ['SIZE 1000'] })
  const connection = await open(t, mx)
  let reads = 0
  const message = streamed('x'.repeat(998), '\r\n\r\n')
  const read = () => {
    reads++
    return message.read()
  }
  t.match(await connection.send(envelope, { ...message, read }), {
    kind: 'refused',
    reply: { code: 552, text: '5.3.4 posthorn: the message has 1002 bytes, the server takes 1000' },
  })
  t.equal(reads, 0)
})

t.test(
  'a source that breaks off, lies about its size or has a bare LF ends in no message',
  async (t) => {
    const good = streamed('Subject: x\r\n\r\n', 'a\r\n'.repeat(50_000))
    const sources: [StreamedMessage, RegExp][] = [
      [{ ...good, sizeBytes: good.sizeBytes + 1 }, /differs from its size by 1 bytes/],
      [streamed('Subject: x\r\n\r\n', 'a\r\n'.repeat(50_000), 'b\n.\nMAIL\r\n'), /Bare LF/],
      [
        {
          ...good,
          async *read() {
            yield* good.read()
            throw new Error('the disk is gone')
          },
        },
        /the disk is gone/,
      ],
    ]
    for (const [message, cause] of sources) {
      const mx = await fakeMx(t)
      const connection = await open(t, mx)
      await t.rejects(connection.send(envelope, message), cause)
      await connection.closed
      t.equal(mx.messages.length, 0)
    }
  },
)

t.test('what is read of a large message waits for the receiver', async (t) => {
  const mx = await fakeMx(t, { deafToData: true, capabilities: ['PIPELINING'] })
  const connection = await open(t, mx, { deadlines: { blockMs: 300 } })
  let readBytes = 0
  const piece = Buffer.from(`${'x'.repeat(76)}\r\n`.repeat(800))
  const message: StreamedMessage = {
    sizeBytes: 1_000 * piece.length,
    eightBit: false,
    async *read() {
      for (let i = 0; i < 1_000; i++) {
        readBytes += piece.length
        yield piece
      }
    },
  }
  const result = await connection.send(envelope, message)
  t.match(result, { kind: 'lost', phase: 'body', code: 'ETIMEDOUT', ambiguous: false })
  // What the kernel's buffers of both sides take, and a block of ours.
  t.ok(readBytes < 16_000_000, `${readBytes} bytes of ${message.sizeBytes} were read`)
})
