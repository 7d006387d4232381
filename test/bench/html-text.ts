/*
 * What the text part of HTML costs, beside htmlparser2 reading the same without making anything of it, and an RSA signature:
 * `node dist/test/bench/html-text.js [FILE.html …]`. ms of CPU a conversion, the least of several rounds.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Parser } from 'htmlparser2'
import { textOfHtml } from '../../src/mime/index.js'
import { costOf, sayMachine } from './cpu-cost.js'

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

sayMachine()
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
