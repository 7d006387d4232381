// Issue 44, the editor: what was written is never rewritten. A document that a page shows and gets back is the same.
import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import type { BlockDocument } from '../../src/blocks/index.js'
import { blockCards } from '../../src/dashboard/blocks/cards.js'
import { checkedDocument, documentIn, typedOf } from '../../src/dashboard/blocks/form.js'
import { noFaults } from '../../src/dashboard/shell/faults.js'
import { parseForm } from '../../src/http/form.js'
import { makeCompileJob } from '../../src/templates/compile-job.js'
import { seeded } from '../shaping/seeded.js'
import { fieldsOf } from '../support/editor-fields.js'
import { randomDocument } from '../support/random-document.js'

const compile = makeCompileJob()
const brand = { background: '#ffffff', text: '#1d2430', button: '#14532d', buttonText: '#ffffff' }
const htmlOf = (document: BlockDocument) => {
  const made = compile({ accountId: 'account', document, brand, language: 'en' })
  return made.kind === 'compiled' ? made.html : JSON.stringify(made)
}

/** As a browser sends what a page shows of it. */
function throughPage(document: BlockDocument): BlockDocument {
  const cards = blockCards({
    document: typedOf(document),
    faults: noFaults,
    change: '/preview',
    mayWrite: true,
    pictures: [],
    picturesPage: '',
    store: undefined,
    saved: {
      slugs: [],
      keptAs: undefined,
      keepAs: '',
      removed: undefined,
      insertedAt: undefined,
      at: '',
    },
  })
  const fields = fieldsOf(`<form id="editor">${String(cards)}</form>`)
  const body = Buffer.from(String(new URLSearchParams(fields)))
  const typed = documentIn(parseForm(body, 'application/x-www-form-urlencoded'))
  if (typed === undefined) throw new Error('The page has no document')
  return checkedDocument(typed)
}

// What people and imports leave behind: ends of lines, spaces, marks without an end, letters of all kinds.
const odd = [
  '',
  ' ',
  '  two  ',
  '\ttab',
  'a\nb',
  '{{ x | default: "y" }}',
  '<b>&amp;</b>',
  '**',
  'é👩‍👩‍👧',
  '\\*',
]

t.test('200 documents: saving one that nobody has changed changes no byte of its mail', (t) => {
  const random = seeded(4_404)
  let words = 0
  for (let round = 0; round < 200; round++) {
    const document = randomDocument(
      random,
      () => `w${++words} ${odd[Math.floor(random() * odd.length)]}`,
    )
    const after = throughPage(document)
    const [before, same] = [htmlOf(document), htmlOf(after)]
    if (before !== same || !isDeepStrictEqual(after, document)) {
      t.same(after, document, JSON.stringify(document))
      t.equal(same, before)
      break
    }
  }
  t.end()
})
