import t from 'tap'
import { parseMailbox } from '../../src/mime/index.js'
import { seededRandom } from './random-mail.js'

const runs = 20_000
const atoms = "abcXYZ019!#$%&'*+-/=?^_`{|}~é漢👋"
const quotable = `${atoms} .,:;<>()[]@\\"`
const dots = (parts: string[]) => parts.join('.')

function generator(seed: number) {
  const random = seededRandom(seed)
  const text = (from: string, most: number) => {
    const characters = [...from]
    return Array.from(
      { length: 1 + random(most) },
      () => characters[random(characters.length)],
    ).join('')
  }
  const list = (most: number, make: () => string) => Array.from({ length: 1 + random(most) }, make)
  const quoted = (content: string) => `"${content.replace(/["\\]/g, '\\$&')}"`
  const label = () => text('abcdefghijklmnopqrstuvwxyz0123456789', 12)
  return {
    random,
    /** RFC 5321 §4.1.2: Dot-string or Quoted-string, with what it stands for. */
    local() {
      if (random(3) > 0) {
        const value = dots(list(3, () => text(atoms, 5)))
        return { value, written: random(2) > 0 ? value : quoted(value) }
      }
      const value = text(quotable, 10)
      return { value, written: quoted(value) }
    },
    domain: () => `${dots(list(3, label))}.test`,
    name: () => text(quotable, 30).replace(/\s+/g, ' ').trim(),
    quoted,
    junk: () => text(`${quotable}\r\n\t\0\u202e\ud800<>@`, 40),
  }
}

/** The local part without its quotes. */
function unquoted(local: string): string {
  return local.startsWith('"') ? local.slice(1, -1).replace(/\\(.)/gu, '$1') : local
}

t.test('every address that the grammar allows is read as what it stands for', async (t) => {
  const make = generator(1)
  for (let i = 0; i < runs; i++) {
    const { value, written } = make.local()
    const domain = make.domain()
    const name = make.name()
    const mixed = make.random(2) > 0 ? domain.toUpperCase() : domain
    const input =
      make.random(2) > 0 ? `${make.quoted(name)} <${written}@${mixed}>` : `${written}@${mixed}`
    const mailbox = parseMailbox(input)
    if (mailbox === undefined) {
      t.fail(`refused: ${JSON.stringify(input)}`)
      continue
    }
    if (unquoted(mailbox.local) !== value || mailbox.domain !== domain) {
      t.fail(`${JSON.stringify(input)} was read as ${mailbox.address}`)
    }
    if (mailbox.address !== `${mailbox.local}@${domain}`) t.fail(`${input}: ${mailbox.address}`)
    if (mailbox.name !== undefined && mailbox.name !== name) t.fail(`${input}: ${mailbox.name}`)
    const again = parseMailbox(mailbox.address)
    if (again?.address !== mailbox.address) t.fail(`${mailbox.address} is not its own address`)
  }
  t.pass(`${runs} addresses`)
})

t.test('whatever else is given is refused, or is an address in its plain form', async (t) => {
  const make = generator(2)
  let read = 0
  for (let i = 0; i < runs; i++) {
    const { written } = make.local()
    const address = `${written}@${make.domain()}`
    const at = make.random(address.length)
    // A valid address with a piece put in or cut out somewhere, or no address at all.
    const input = [
      address.slice(0, at) + make.junk() + address.slice(at),
      address.slice(0, at) + address.slice(at + 1 + make.random(3)),
      make.junk(),
    ][make.random(3)] as string
    const mailbox = parseMailbox(input)
    if (mailbox === undefined) continue
    read++
    if (/[\p{Cc}\p{Cs}<>]/u.test(mailbox.domain) || /[\r\n\0]/.test(JSON.stringify(mailbox))) {
      t.fail(`${JSON.stringify(input)} → ${JSON.stringify(mailbox)}`)
    }
    if (parseMailbox(mailbox.address)?.address !== mailbox.address) t.fail(mailbox.address)
  }
  t.ok(read > 1_000, `${read} were addresses all the same`)
})

t.test('an address is the same in whatever case its domain is written', async (t) => {
  const make = generator(3)
  const parts = ['a', 'b1', '-', '_', '.', 'xn--', 'xn--bcher-kva', 'x'.repeat(31), 'q.uk', ' ']
  let read = 0
  for (let i = 0; i < runs; i++) {
    const pieces = Array.from(
      { length: 1 + make.random(6) },
      () => parts[make.random(parts.length)],
    )
    const local = make.random(4) > 0 ? 'l'.repeat(1 + make.random(66)) : make.local().written
    const domain = `${pieces.join('')}.test`
    const [lower, upper] = [domain, domain.toUpperCase()].map((one) =>
      parseMailbox(`${local}@${one}`),
    )
    if (JSON.stringify(lower) !== JSON.stringify(upper)) t.fail(`${local}@${domain}`)
    if (lower !== undefined) read++
  }
  t.ok(read > 1_000 && read < runs / 2, `${read} were addresses`)
})
