import { createRequire } from 'node:module'
import { parse } from 'parse5'
import t from 'tap'
import { type BlockDocument, blockDocument } from '../../src/blocks/index.js'
import { inlineOf } from '../../src/blocks/inline.js'
import { markupOf } from '../../src/blocks/markup.js'
import { check, structOf } from '../../src/fields/index.js'
import { textOfHtml } from '../../src/mime/index.js'
import { makeCompileJob } from '../../src/templates/compile-job.js'
import { withLinkTags } from '../../src/templates/index.js'
import { seeded } from '../shaping/seeded.js'
import { randomDocument } from '../support/random-document.js'
import { thoroughly } from '../support/thorough.js'

const compile = makeCompileJob()
const brand = { background: '#ffffff', text: '#1d2430', button: '#14532d', buttonText: '#ffffff' }

function htmlOf(document: BlockDocument): string {
  const made = compile({ accountId: 'account', document, brand, language: 'en' })
  if (made.kind !== 'compiled') throw new Error(JSON.stringify(made))
  return made.html
}

// What people type, and what would break out of markup, or be rewritten by a compiler.
const hostile = [
  'a\\b',
  '"><script>x</script>',
  '</mj-text></mjml>',
  '&amp;',
  "it's",
  '👩‍👩‍👧',
  'ph0x0z',
  '{{ tag }}',
  '* star',
  '**',
  '[x](javascript:1)',
  'é\u0301',
]

t.test(
  '500 documents: each word stands in HTML and text once, in order, and nothing typed becomes markup',
  async (t) => {
    const random = seeded(44)
    for (let round = 0; round < 500; round++) {
      const words: string[] = []
      const word = () => {
        const made = `w${round}q${words.length}w`
        words.push(made)
        return `${made} ${hostile[Math.floor(random() * hostile.length)]}`
      }
      const document = randomDocument(random, word)
      const { blocks } = document
      const html = htmlOf(document)
      const { text } = textOfHtml(html)
      const found = text.match(/w\d+q\d+w/g) ?? []
      if (JSON.stringify(found) !== JSON.stringify(words)) {
        t.same(found, words, JSON.stringify(blocks))
        break
      }
      const names = elementsOf(html)
      if (names.has('script') || [...names].some((name) => name.startsWith('mj-'))) {
        t.fail(`${[...names]}: ${JSON.stringify(blocks)}`)
        break
      }
      if (round === 0) t.ok(names.has('table'))
    }
  },
)

interface HtmlNode {
  nodeName: string
  value?: string
  attrs?: { name: string; value: string }[]
  childNodes?: HtmlNode[]
}

// What both compilers have to say alike; widths and margins each reckons in a way of its own.
const compared = ['href', 'src', 'alt', 'align', 'bgcolor']

/** The body's elements and texts in order. */
function structureOf(html: string): string[] {
  const found: string[] = []
  const visit = (node: HtmlNode, isIn: boolean) => {
    const { nodeName, value, attrs = [], childNodes = [] } = node
    if (isIn && nodeName === '#text' && value?.trim()) found.push(value.trim())
    if (isIn && !nodeName.startsWith('#')) {
      const some = attrs.filter(({ name }) => compared.includes(name))
      found.push([nodeName, ...some.map((one) => `${one.name}=${one.value}`).sort()].join(' '))
    }
    for (const child of childNodes) visit(child, isIn || nodeName === 'body')
  }
  visit(parse(html) as unknown as HtmlNode, false)
  return found
}

t.test('the reference compiler makes the same of the markup', async (t) => {
  // It has no types of its own.
  const mjml: (markup: string, options: object) => Promise<{ html: string }> = createRequire(
    import.meta.url,
  )('mjml')
  const random = seeded(441)
  let words = 0
  for (let round = 0; round < thoroughly(20, 150); round++) {
    const document = randomDocument(random, () => `w${words++}w`)
    const markup = markupOf(document, brand)
    const options = { validationLevel: 'strict', keepComments: true }
    const { html } = await mjml(markup.mjml, options)
    const [own, theirs] = [structureOf(htmlOf(document)), structureOf(markup.restore(html))]
    if (JSON.stringify(own) === JSON.stringify(theirs)) continue
    t.same(own, theirs, JSON.stringify(document))
    break
  }
})

function elementsOf(html: string): Set<string> {
  const names = new Set<string>()
  const visit = (node: { nodeName: string; childNodes?: unknown[] }) => {
    names.add(node.nodeName)
    for (const child of node.childNodes ?? []) visit(child as typeof node)
  }
  visit(parse(html) as unknown as { nodeName: string; childNodes: unknown[] })
  return names
}

t.test('what stands in a block arrives letter by letter', async (t) => {
  const url = 'https://x.test/\\a?q="é\'&r={{ id | default: "x" }}'
  const html = htmlOf({
    version: 1,
    blocks: [
      { type: 'button', text: 'Go', url },
      { type: 'text', text: `[Go](${url.replace(' | default: "x"', '')})` },
      { type: 'picture', url: 'https://x.test/a.png', alt: 'A "\\" picture' },
      { type: 'html', html: '<p>{% if a %}\\n "x"{% endif %}' },
      { type: 'footer' },
    ],
  })
  t.match(html, `href="https://x.test/\\a?q=&quot;é&#39;&amp;r={{ id | default: 'x' }}"`)
  t.match(html, 'href="https://x.test/\\a?q=&quot;é&#39;&amp;r={{ id }}"')
  t.match(html, 'alt="A &quot;\\&quot; picture"')
  t.match(html, '<p>{% if a %}\\n "x"{% endif %}')
  t.match(html, '{{ unsubscribe_footer }}')
})

t.test('a tag with both quotes ends no attribute', (t) => {
  const url = `https://x.test/?a={{ a | default: "it's" }}`
  const html = htmlOf({ version: 1, blocks: [{ type: 'button', text: 'Go', url }] })
  const [, href] = /href="([^"]*)"/.exec(html) ?? []
  t.notMatch(href, /\{\{/)
  t.match(withLinkTags(html), url, 'and is read as it was typed')
  t.end()
})

t.test('marks that have no end are what was typed, and no text takes long', async (t) => {
  const plain = ['2*3*4', '* a * b', '**a', '[a](b)', '[a](javascript:x)', '{{ a', 'a_b_c']
  for (const text of plain) t.same(inlineOf(text), [{ kind: 'text', text }], text)
  t.same(inlineOf('\\*a\\*'), [{ kind: 'text', text: '*a*' }])
  t.match(inlineOf('*a **b***'), [{ kind: 'italic', inside: [{}, { kind: 'bold' }] }])
  const pieces = ['*a ', '**a ', '[a', '{{a ', '{% a', '*a*', '[', '\\', '**', '*']
  const started = process.cpuUsage()
  for (const piece of pieces) {
    const text = piece.repeat(Math.floor(20_000 / piece.length))
    t.ok(inlineOf(text).length > 0, piece)
  }
  const { user } = process.cpuUsage(started)
  t.comment(`${Math.round(user / 1000)} ms`)
})

t.test('a null in a block means that the field is absent, as in every body', async (t) => {
  const text = { type: 'text', text: 'x', color: null, align: null }
  const given = { version: 1, font: null, blocks: [{ type: 'columns', columns: [[text], []] }] }
  t.same(check(given, structOf(blockDocument)), {
    version: 1,
    blocks: [{ type: 'columns', columns: [[{ type: 'text', text: 'x' }], []] }],
  })
})
