import t from 'tap'
import { relaxBody } from '../../src/dkim/canonical.js'
import { composeMessage, composeParts, parseMailbox } from '../../src/mime/index.js'
import { encodePart } from '../../src/mime/transfer-encoding.js'

/** What there is to know of a text before it is encoded, a look at each thing by itself. */
function plainly(text: string) {
  const lines = text.split(/\r\n|\r|\n/)
  return {
    bytes: Buffer.from(lines.join('\r\n')),
    is7Bit: lines.every((line) => /^[\t -~]{0,998}$/.test(line) && !line.startsWith('From ')),
    isRelaxed: lines.every((line) => !/\t| {2}| $/.test(line)),
    isDotted: lines.some((line) => line.startsWith('.')),
  }
}

const pieces = [
  'a',
  'From ',
  ' ',
  '  ',
  '\t',
  '\r',
  '\n',
  '\r\n',
  '\n\n',
  '.',
  '=',
  '<p>',
  'é',
  '春',
  '😀',
  '\0',
  '\x7f',
  '\ud800',
  'b '.repeat(30),
  'c'.repeat(900),
  'd'.repeat(99),
]
let seed = 7
const next = (below: number) => {
  seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
  return Math.floor((seed / 2_147_483_648) * below)
}
const randomText = (most: number) =>
  Array.from({ length: next(most) }, () => pieces[next(pieces.length)]).join('')

const edges = ['', ' ', '\r', 'a\rb', 'a \r\nb', 'a\n', 'From', 'From a', 'a\nFrom a', 'x \n']
const long = ['y'.repeat(998), 'y'.repeat(999), `${'z'.repeat(998)}\nz`, '春 \n'.repeat(50_000)]
const texts = [...edges, ...long, 'line of many \n'.repeat(20_000)]
for (let i = 0; i < 3_000; i++) texts.push(randomText(12))
// Each thing at each place of a word of four.
for (const thing of [
  '  ',
  ' \n',
  '\n.',
  '.\n',
  ' !',
  '! ',
  '\t',
  '\x1f',
  '\x7f',
  '~',
  '=',
  '\n ',
]) {
  for (let before = 0; before < 9; before++) {
    texts.push(`${'a'.repeat(before)}${thing}${'b'.repeat(8 - before)}`)
  }
}

const from = parseMailbox('a@example.com')
if (from === undefined) throw new Error('The address does not parse')

t.test(
  'a text is carried as it is wherever 7bit can, and comes back from the others',
  async (t) => {
    for (const text of texts) {
      const { encoding, data, ...known } = encodePart(text)
      const { bytes, is7Bit, isRelaxed, isDotted } = plainly(text)
      const words = JSON.stringify(text.slice(0, 60))
      if ((encoding === '7bit') !== is7Bit) t.fail(`${encoding}: ${words}`)
      if (is7Bit && (known.isRelaxed !== isRelaxed || known.isDotted !== isDotted)) t.fail(words)
      const back = { '7bit': data, base64: Buffer.from(data.toString(), 'base64') }
      if (encoding !== 'quoted-printable' && !back[encoding].equals(bytes)) t.fail(words)
    }
  },
)

t.test('a text keeps its bytes when others are encoded after it', async (t) => {
  const first = encodePart('first\n').data
  const many = encodePart('many\n'.repeat(100_000)).data
  encodePart('XXXXXXXXXXXXXXX')
  t.equal(first.toString(), 'first\r\n')
  t.ok(many.equals(Buffer.from('many\r\n'.repeat(100_000))))
})

t.test('a body that says it is relaxed is changed by relaxing at its end alone', async (t) => {
  let relaxed = 0
  for (const [i, text] of texts.entries()) {
    const html = i % 2 === 0 ? undefined : texts[texts.length - i]
    const input = { from, to: [from], subject: '', messageId: 'a@b', dateMs: 0, text, html }
    const { body, isRelaxed } = composeMessage(input)
    if (!isRelaxed) continue
    relaxed++
    const made = relaxBody(body)
    if (
      !body.subarray(0, made.length).equals(made) ||
      /[^\r\n]/.test(`${body.subarray(made.length)}`)
    ) {
      t.fail(JSON.stringify([text, html]))
    }
  }
  t.ok(relaxed > 200)
})

t.test('equal texts are encoded once, as the type that each has', async (t) => {
  const [text, html] = composeParts('same <p>\n', 'same <p>\n')
  t.not(text, html)
  t.equal(html?.type, 'text/html')
  for (let i = 0; i < 20; i++) composeParts(`another ${i}`)
  const [again] = composeParts('same <p>\n')
  t.not(again, text, 'it was forgotten')
  t.same(again, text)
  t.equal(composeParts(['same', ' <p>\n'].join(''))[0], again)
})
