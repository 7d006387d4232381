// Issue 'Campaigns', the editor's block document: by the API it is a template's content.
import t from 'tap'
import { setLanguage } from '../../src/accounts/index.js'
import { textOfHtml } from '../../src/mime/index.js'
import { startPosthorn } from '../support/posthorn.js'

const posthorn = await startPosthorn(t)
const { call } = posthorn
const blocks = {
  version: 1,
  blocks: [
    { type: 'heading', text: 'Hello {{ name | default: "you" }} & <all>', level: 1 },
    { type: 'text', text: 'Our **new** shop is [open](https://shop.test/?a=1&b={{ id }}).' },
    {
      type: 'columns',
      columns: [[{ type: 'text', text: 'Left' }], [{ type: 'space', height: 9 }]],
    },
    { type: 'button', text: 'Look', url: '{{ shop }}' },
  ],
}
const made = await call('POST', '/v1/templates', {
  body: { slug: 'news', subject: 'News', blocks },
})
const at = '/v1/templates/news'

t.test(
  'blocks become HTML with what was typed escaped, and the mail has their words',
  async (t) => {
    t.equal(made.status, 201)
    t.match(made.json.html, 'Hello {{ name | default: "you" }} &amp; &lt;all&gt;')
    t.match(made.json.html, 'href="https://shop.test/?a=1&amp;b={{ id }}"')
    t.equal(made.json.blocks.blocks.length, 4)
    const variables = { name: 'Ann', id: 7, shop: 'https://shop.test/' }
    const { html } = (await call('POST', `${at}/render`, { body: { variables } })).json
    const { text } = textOfHtml(html)
    const words = ['Hello Ann & <all>', 'Our new shop is open', 'Left', 'shop.test/?a=1&b=7']
    for (const one of words) t.match(text, one)
    const mail = { from: 'a@sender.test', to: 'ann@example.com', template: 'news', variables }
    t.equal((await posthorn.send(mail)).status, 200)
  },
)

t.test(
  'HTML takes the place of blocks, any other save keeps them, a version brings them back',
  async (t) => {
    const renamed = await call('PATCH', at, { body: { subject: 'Old news' } })
    t.same(renamed.json.blocks, made.json.blocks)
    t.equal(renamed.json.html, made.json.html)
    const written = await call('PATCH', at, { body: { html: '<p>By hand</p>' } })
    t.match(written.json, { blocks: null, html: '<p>By hand</p>' })
    const back = await call('POST', `${at}/versions/1/restore`)
    t.same(back.json.blocks, made.json.blocks)
  },
)

t.test('colours are the document’s, or those of the brand', async (t) => {
  const colours = { button: '#123456', buttonText: '#ffffff' }
  t.equal((await call('PATCH', '/v1/brand', { body: { colours } })).status, 200)
  const own = { ...blocks, colors: { button: '#654321' } }
  t.match((await call('PATCH', at, { body: { blocks } })).json.html, '#123456')
  await setLanguage(posthorn, posthorn.accountId, 'fr')
  const french = (await call('PATCH', at, { body: { blocks } })).json.html
  t.match(french, /^<!doctype html><html lang="fr"/, 'and its words are in the account’s language')
  t.notMatch(french, 'lang="und"')
  const { html } = (await call('PATCH', at, { body: { blocks: own } })).json
  t.ok(html.includes('#654321') && !html.includes('#123456'))
})

t.test('what is no document is refused with its place', async (t) => {
  const saved = (await call('GET', at)).json.version
  const block = (one: object) => ({ version: 1, blocks: [one] })
  const columns = { type: 'columns', columns: [[{ type: 'columns', columns: [[], []] }], []] }
  const cases: [object, number, RegExp][] = [
    [
      block({ type: 'hero', text: 'x' }),
      400,
      /"path":\["blocks","blocks","0","type"\],"message":"Expected heading, text/,
    ],
    [block({ type: 'text' }), 400, /"0","text"\],"message":"Required/],
    [block({ type: 'text', text: 'x', colour: '#ffffff' }), 400, /no fields other than/],
    [block({ type: 'text', text: 'x', color: 'red' }), 400, /a colour such as/],
    [block({ type: 'button', text: 'x', url: 'javascript:alert(1)' }), 400, /a link with https/],
    [block(columns), 400, /"0","columns","0","0","type"/],
    [{ version: 2, blocks: [] }, 400, /version/],
    [{ version: 1, blocks: Array(201).fill({ type: 'divider' }) }, 400, /200/],
    [block({ type: 'text', text: 'x'.repeat(20_001) }), 400, /20000 characters/],
    [block({ type: 'text', text: '{% nope %}' }), 422, /syntax/],
  ]
  for (const [given, status, message] of cases) {
    const { status: seen, text } = await call('PATCH', at, { body: { blocks: given } })
    t.match({ seen, text }, { seen: status, text: message }, JSON.stringify(given).slice(0, 99))
  }
  const both = await call('PATCH', at, { body: { blocks, html: '<p>x</p>' } })
  t.match(both, { status: 400, text: /html or blocks, and not both/ })
  const none = await call('POST', '/v1/templates', { body: { slug: 'none', subject: 'x' } })
  t.match(none, { status: 422, text: /needs html or blocks/ })
  t.equal((await call('GET', at)).json.version, saved)
})

t.test('blocks that take too long are refused as documented', async (t) => {
  const text = '*_'.repeat(9_950)
  const slow = { version: 1, blocks: Array.from({ length: 12 }, () => ({ type: 'text', text })) }
  const { status, json } = await call('POST', '/v1/templates', {
    body: { slug: 'slow', subject: 'Slow', blocks: slow },
  })
  // On a quick machine they are made in time, and what they make is too large.
  t.equal(status, 422)
  t.ok([json.part, json.field].includes('html'), JSON.stringify(json))
})

t.test('what is no document at all is refused, and is no fault of the appliance', async (t) => {
  const odd = [[{ type: 'columns', columns: 7 }], [null], 7, [{ type: 'columns', columns: [7] }]]
  for (const blocks of odd) {
    const { status } = await call('PATCH', at, { body: { blocks: { version: 1, blocks } } })
    t.equal(status, 400, JSON.stringify(blocks))
  }
})
