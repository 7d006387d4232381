/*
 * What the text part of HTML costs, beside htmlparser2 reading the same without making anything of it, and an RSA signature:
 * `node dist/test/bench/html-text.js [FILE.html …]`. ms of CPU a conversion, the least of several rounds.
 */
import { generateKeyPairSync, sign } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Parser } from 'htmlparser2'
import { textOfHtml } from '../../src/mime/index.js'

const folder = 'test/fixtures/html-text'
const style =
  'font-family:Arial,Helvetica,sans-serif;font-size:14px;line-height:20px;padding:8px 12px;'
const row = (n: number) =>
  `<tr>${[`<a href="https://shop.test/p/${n}?utm_source=order&amp;utm_medium=mail" style="color:#15c">Item ${n}</a>`, n % 4, '2.50', '7.50'].map((cell) => `<td align="right" class="cell" style="${style}border-bottom:1px solid #eee">${cell}</td>`).join('\n')}</tr>`
const made: [name: string, html: string][] = [
  [
    'an order of 26 KB',
    `<html><head><style>${`p { ${style} }\n`.repeat(20)}</style></head><body><table>${Array.from({ length: 34 }, (_, n) => row(n)).join('\n')}</table></body></html>`,
  ],
  ['a letter of 8 KB', `<p>${'Some words of a letter. '.repeat(16)}</p>\n`.repeat(20)],
]
const given = process.argv.slice(2).map((file) => [file, file] as const)
const kept = readdirSync(folder).filter((name) => name.endsWith('.html'))
const read = [...kept.map((name) => [name, join(folder, name)] as const), ...given]

/** ms of CPU a call: the least of twenty rounds, as other work on the machine only adds. */
function costOf(act: () => void): number {
  for (let i = 0; i < 300; i++) act()
  let least = Number.POSITIVE_INFINITY
  for (let round = 0; round < 20; round++) {
    const before = process.cpuUsage()
    for (let i = 0; i < 50; i++) act()
    const { user, system } = process.cpuUsage(before)
    least = Math.min(least, (user + system) / 50_000)
  }
  return least
}

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const signature = costOf(() => sign('sha256', Buffer.from('x'), privateKey))
console.log(`an RSA-2048 signature ${signature.toFixed(3)} ms (${Math.round(1_000 / signature)}/s)`)
for (const [name, html] of [
  ...made,
  ...read.map(([name, file]) => [name, readFileSync(file, 'utf8')] as const),
]) {
  const own = costOf(() => textOfHtml(html))
  const bare = costOf(() => new Parser({ ontext() {}, onopentag() {} }).end(html))
  const size = `${Math.round(html.length / 1_024)} KB`
  console.log(
    `${name} (${size}): ${own.toFixed(3)} ms, htmlparser2 alone ${bare.toFixed(3)}; ${(own / bare).toFixed(2)} of it`,
  )
}
