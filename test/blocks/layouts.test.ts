// The layouts that come with it: each is a document, is compiled, and reads well as text.
import t from 'tap'
import { type Block, blockDocument, layoutNamed, layouts } from '../../src/blocks/index.js'
import { check, structOf } from '../../src/fields/index.js'
import { textOfHtml } from '../../src/mime/index.js'
import { makeCompileJob } from '../../src/templates/compile-job.js'

const compile = makeCompileJob()
const brand = { background: '#ffffff', text: '#1d2430', button: '#14532d', buttonText: '#ffffff' }

t.equal(layouts.length, 6)
for (const { name, document } of layouts) {
  t.test(name, async (t) => {
    check(document, structOf(blockDocument))
    t.equal(layoutNamed(name)?.document, document)
    t.equal(document.blocks.at(-1)?.type, 'footer', 'there is a way out of it')
    t.notMatch(
      JSON.stringify(document),
      /"(?:color|background|textColor|colors)":/,
      "brand's colours",
    )
    const made = compile({ accountId: 'account', document, brand, language: 'en' })
    if (made.kind !== 'compiled') throw new Error(JSON.stringify(made))
    const { text } = textOfHtml(made.html)
    if (process.env.SHOW_TEXTS !== undefined) t.comment(`\n${text}`)
    t.match(text, 'unsubscribe_footer')
    t.notMatch(text, /\*\*|\]\(|undefined|\n{4}/, 'no marks of the editor, no gaps')
    t.ok(text.split('\n').length > 8)
  })
}
t.test('a list stands where it should, its dots beside the words', async (t) => {
  const of = (align?: 'left' | 'center') => {
    const block: Block = { type: 'list', items: ['one'], ...(align && { align }) }
    const document = { version: 1, blocks: [block] }
    const made = compile({ accountId: 'account', document, brand, language: 'en' })
    return made.kind === 'compiled' ? made.html : ''
  }
  t.match(
    of('center'),
    /text-align:center[^>]*>\s*<ul style="margin:0;padding:0;list-style-position:inside"/,
  )
  t.match(of(), '<ul style="margin:0;padding-left:24px">')
  t.equal(of(), of('left'))
})
t.equal(layoutNamed('__proto__'), undefined)
t.equal(layoutNamed(null), undefined)
