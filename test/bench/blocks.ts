/*
 * What HTML of a document of blocks costs, beside the text part of the same HTML, which every mail of it needs, and an
 * RSA signature: `node dist/test/bench/blocks.js`. ms of CPU a document, the least of several rounds.
 */
import type { Block } from '../../src/blocks/index.js'
import { textOfHtml } from '../../src/mime/index.js'
import { makeCompileJob } from '../../src/templates/compile-job.js'
import { costOf, sayMachine } from './cpu-cost.js'

const kinds: Block[] = [
  { type: 'heading', text: 'Hello {{ firstName | default: "you" }}' },
  { type: 'text', text: 'Our **new** shop is [open](https://shop.test/). '.repeat(6) },
  { type: 'button', text: 'Have a look', url: 'https://shop.test/' },
  { type: 'list', items: ['One', '*Two*', 'Three'] },
  { type: 'picture', url: 'https://shop.test/a.png', alt: 'A shop' },
]
const compile = makeCompileJob()
const brand = { background: '#ffffff', text: '#1d2430', button: '#14532d', buttonText: '#ffffff' }

sayMachine()
for (const count of [30, 150, 200]) {
  const blocks = Array.from({ length: count }, (_, n) => kinds[n % kinds.length] as Block)
  const job = { accountId: 'account', document: { version: 1, blocks }, brand, language: 'en' }
  const made = compile(job)
  if (made.kind !== 'compiled') throw new Error(JSON.stringify(made))
  const own = costOf(() => compile(job))
  const text = costOf(() => textOfHtml(made.html))
  console.log(
    `${count} blocks (${Math.round(made.html.length / 1024)} KB): ${own.toFixed(2)} ms, their text part ${text.toFixed(2)}; ${(own / text).toFixed(1)} of it`,
  )
}
