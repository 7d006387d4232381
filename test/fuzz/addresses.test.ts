import { parseMailbox } from '../../src/mime/index.js'
import { fuzz } from './driver.js'

const seeds = [
  'a@b.test',
  'Ann <ann@example.com>',
  '"Ann \\"A\\" Bee" <"ann bee"@example.com>',
  'Zoë Müller <zoë@müller.example>',
  '"very.(),:;<>[]\\".VERY.\\"very@\\\\ \\"very\\".unusual"@strange.example.com',
  'x@xn--mller-kva.example',
  `${'a'.repeat(64)}@${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(50)}.example`,
  '漢字@例え.jp',
  'a+tag.more-_~!#$%&@a-b.c-d.example',
]
const tokens = [
  '@',
  '<',
  '>',
  '"',
  '\\',
  '.',
  '..',
  ',',
  ';',
  ':',
  ' ',
  '\t',
  '(',
  ')',
  '[',
  ']',
  '%00',
  '\r\n',
  '\n',
  '\r',
  '\0',
  '\u2028',
  '\u202e',
  '\u200b',
  '\u00ad',
  '\u3002',
  '．',
  'xn--',
  '\ud800',
  'ſ',
  'K',
  'İ',
  '1',
  '0x7f.1',
  '/',
  '%41',
  '"@',
  '\\"',
  '👩‍👩',
  'a'.repeat(70),
]

// Not bytes: an address comes as text, of the whole of Unicode.
fuzz('mailboxes', 30_000, { seeds, tokens, maxBytes: 2_000 }, (input) => {
  const mailbox = parseMailbox(input)
  if (mailbox === undefined) return undefined
  const { address, local, domain, name, utf8Local } = mailbox
  if (address !== `${local}@${domain}`) return `the parts are not the whole: ${address}`
  if (/[\p{Cc}\p{Cs}\u2028\u2029]/u.test(address + (name ?? ''))) return 'a control character'
  if (Buffer.byteLength(local) > 64 || Buffer.byteLength(address) > 254) return 'too long'
  // Underscores are in no host name (RFC 952), but some servers have them.
  if (!/^[a-z0-9._-]+$/.test(domain) || domain.includes('..')) return `no host name: ${domain}`
  if (utf8Local !== /[^\0-\x7f]/.test(local)) return 'utf8Local is wrong'
  if (name === '' || [...(name ?? '')].length > 200) return 'a bad name'
  // It stands between angle brackets in a command: nothing in it may end them.
  if (/[<>]/.test(local.replaceAll(/"(?:[^"\\]|\\.)*"/g, ''))) return 'it ends its brackets'
  const again = parseMailbox(address)
  if (again?.address !== address) return `${address} is read as ${again?.address}`
  const bracketed = parseMailbox(`"x" <${address}>`)
  return bracketed?.address === address ? undefined : `bracketed it is ${bracketed?.address}`
})
