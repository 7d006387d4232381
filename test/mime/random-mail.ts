import { type Mailbox, type MessageInput, parseMailbox } from '../../src/mime/index.js'

/** Numbers from 0 to `below`, the same for the same seed (a linear congruential generator). */
export function seededRandom(seed: number): (below: number) => number {
  let state = BigInt(seed)
  return (below) => {
    state = (state * 6364136223846793005n + 1442695040888963407n) & 0xffffffffffffffffn
    return Number(state >> 33n) % below
  }
}

/** A mail of the oddest content that the API lets through; `seed` names it. */
export function randomMail(seed: number): MessageInput {
  const random = seededRandom(seed)
  const pick = <T>(items: readonly T[]): T => items[random(items.length)] as T
  const many = (most: number, make: () => string) =>
    Array.from({ length: random(most) }, make).join('')
  const word = () => pick(words)()
  const words = [
    () => 'the quick brown fox',
    () => many(30, () => String.fromCodePoint(0x21 + random(94))),
    () =>
      pick([
        '👩‍👩‍👧‍👦',
        '👋🏽',
        'e\u0301\u0323',
        'שלום',
        'مرحبا',
        '漢字仮名',
        'ğüşİıöç',
        '\u{1f1f3}\u{1f1ec}',
      ]),
    () => String.fromCodePoint(0xa0 + random(0xd000)),
    () => String.fromCodePoint(0x10000 + random(0xfffff)),
    () =>
      pick([
        '=?UTF-8?Q?=41?=',
        '=41',
        '=\u00e9',
        '?=',
        '"',
        '\\',
        '<b@c.d>',
        ', ',
        ';',
        '@',
        '(c)',
      ]),
    () => ' ',
  ] as const
  const content = () =>
    many(40, () =>
      pick([
        word,
        word,
        () => pick(['\n', '\r\n', '\r', '\n\r', '\r\n\r\n']),
        () =>
          pick([
            ' \n',
            '\t\r\n',
            '\n.',
            '\n.\r\n',
            '\nFrom ',
            '\n\nFrom x',
            '  ',
            '\t',
            '\0',
            '\x7f',
          ]),
        () =>
          pick(['x', 'é', '=', ' ', '.', 'F', '漢']).repeat(pick([75, 76, 77, 998, 999, 10_000])),
      ])(),
    )
  const line = (most: number) => many(most, () => word() + pick(['', ' ']))
  const mailbox = (address: string): Mailbox => {
    const parsed = parseMailbox(address)
    if (parsed === undefined) throw new Error(`No address: ${address}`)
    const name = [...line(8)].slice(0, 200).join('').trim()
    return name === '' ? parsed : { ...parsed, name }
  }
  const addresses = ['bob@example.com', '"a, b"@example.com', 'İ@bücher.example', 'x+y@a.b.example']
  const parts = random(3)
  return {
    from: mailbox('sender@example.com'),
    to: Array.from({ length: 1 + random(pick([1, 1, 50])) }, () => mailbox(pick(addresses))),
    replyTo: random(4) === 0 ? [mailbox(pick(addresses))] : undefined,
    subject: line(20).trim(),
    text: parts === 1 ? undefined : content(),
    html: parts === 0 ? undefined : content(),
    messageId: `${seed}@example.com`,
    dateMs: random(2 ** 31) * 1000,
    extraHeaders:
      random(2) === 0
        ? [{ name: 'List-Unsubscribe', value: `<https://example.com/${'u'.repeat(random(300))}>` }]
        : undefined,
  }
}
