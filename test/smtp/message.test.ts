import t from 'tap'
import { blocksOf, stuffDots } from '../../src/smtp/message.js'

function stuffed(...pieces: string[]): string {
  return Buffer.concat(stuffDots(pieces.map((piece) => Buffer.from(piece)))).toString()
}

t.test('dots are stuffed and the final dot stands on a line of its own', async (t) => {
  t.equal(stuffed('a\r\n'), 'a\r\n.\r\n')
  t.equal(stuffed('a'), 'a\r\n.\r\n')
  t.equal(stuffed(), '.\r\n')
  t.equal(stuffed(''), '.\r\n')
  t.equal(stuffed('.\r\n'), '..\r\n.\r\n')
  t.equal(stuffed('.a\r\n..b\r\n.\r\nc.\r\n'), '..a\r\n...b\r\n..\r\nc.\r\n.\r\n')
  t.equal(stuffed('a.b'), 'a.b\r\n.\r\n')
})

t.test('a message in pieces is stuffed like one in one piece', async (t) => {
  const whole = '.a\r\n\r\n..b\r\n.\r\nc.\r\n.'
  const expected = stuffed(whole)
  for (let cut = 0; cut <= whole.length; cut++) {
    for (let cut2 = cut; cut2 <= whole.length; cut2++) {
      const pieces = [whole.slice(0, cut), whole.slice(cut, cut2), whole.slice(cut2)]
      if (stuffed(...pieces) !== expected) t.equal(stuffed(...pieces), expected, `${cut}, ${cut2}`)
    }
  }
  t.equal(stuffed(...whole), expected)
})

t.test('a bare CR or LF is never sent', async (t) => {
  const bare = [
    'a\nb\r\n',
    '\n',
    'a\rb\r\n',
    '\r',
    'a\r\r\n',
    'a\r\n\n',
    'a\r',
    'a\n',
    '\n.\n',
    '\r.\r',
    'a\r\n.\nMAIL FROM:<x@x>\r\n',
    'a\n.\r\nb\r\n',
    'a\r.\r\nb\r\n',
    'a\r\n.\rb\r\n',
  ]
  for (const text of bare) {
    for (let cut = 0; cut <= text.length; cut++) {
      t.throws(() => stuffed(text.slice(0, cut), text.slice(cut)), /Bare (CR|LF)/, text)
    }
  }
})

t.test('blocks hold the bytes in order and keep their bound', async (t) => {
  const pieces = ['abc', '', 'd', 'efghijklmnop', 'q'].map((piece) => Buffer.from(piece))
  const cut = (bytes: number) => [...blocksOf(pieces, bytes)].map(String)
  t.same(cut(100), ['abcdefghijklmnopq'])
  t.same(cut(17), ['abcdefghijklmnopq'])
  t.same(cut(5), ['abcde', 'fghij', 'klmno', 'pq'])
  t.same(cut(1), [...'abcdefghijklmnopq'])
})
