// Issue 'Campaigns', the editor: a mail of blocks, put together without script.
import t from 'tap'
import { gif } from '../../pictures/samples.js'
import { fieldsOf } from '../../support/editor-fields.js'
import { logIn } from '../../support/log-in.js'
import { startPosthorn } from '../../support/posthorn.js'

const posthorn = await startPosthorn(t)
const { accountId, call } = posthorn
const at = `/a/${accountId}/templates`
const ann = await logIn(posthorn, accountId, 'member')
const stored = async (slug: string) => (await call('GET', `/v1/templates/${slug}`)).json

const titles = (page: string) =>
  [...page.matchAll(/<fieldset class="card block"[^>]*><legend>([^<]*)/g)].map(([, name]) => name)

t.test(
  'blocks are added, moved, copied and taken away by buttons, and nothing is saved',
  async (t) => {
    let page = (await ann.get(`${at}/-/new?with=blocks`)).text
    const press = async (deed: string, more: Record<string, string> = {}) => {
      const sent = await ann.post(`${at}/-/new/preview`, { ...fieldsOf(page), ...more, do: deed })
      t.equal(sent.status, 200, deed)
      page = sent.text
      return titles(page)
    }
    t.same(titles(page), ['Heading 1', 'Text 2', 'Button 3', 'Line 4', 'Footer 5'])
    t.same((await press('add:0', { 'kind.0': 'picture' }))[1], 'Picture 2')
    t.same((await press('down:1')).slice(1, 3), ['Text 2', 'Picture 3'])
    t.same((await press('up:2')).slice(1, 3), ['Picture 2', 'Text 3'])
    t.equal((await press('copy:2')).filter((name) => name?.startsWith('Text')).length, 2)
    t.equal((await press('gone:2')).length, 6)
    await press('add:5', { 'kind.5': 'columns' })
    t.same(titles(page).slice(-3), ['Columns 7', 'Text 1', 'Text 1'])
    await press('add:6.1.0', { 'kind.6.1.0': 'button', 'b.6.1.0.text': 'Right **side**' })
    t.same(titles(page).slice(-3), ['Text 1', 'Text 1', 'Button 2'])
    t.match(page, 'Right **side**', 'what was typed stays')
    t.same(titles(page), await press('up:0'), 'the first goes no further')
    for (const odd of ['up:99', 'gone:', 'add:3.7.', 'nonsense', 'up:-1']) {
      t.equal((await press(odd)).length, titles(page).length, odd)
    }
    t.equal((await call('GET', '/v1/templates')).json.templates.length, 0)
  },
)

t.test('many blocks are closed, one is open, and all of them are saved as they were', async (t) => {
  const some = [
    { type: 'heading', id: 'top', text: 'A heading "with" <quotes>', level: 1 },
    { type: 'text', text: 'Words. '.repeat(40), align: 'center' },
    { type: 'list', items: ['One', 'Two'] },
    { type: 'columns', columns: [[{ type: 'text', text: 'Left' }], [{ type: 'divider' }]] },
  ]
  for (const count of [15, 40]) {
    const blocks = Array.from({ length: count }, (_, at) => some[at % some.length])
    const slug = `many-${count}`
    const given = { version: 1, width: 500, colors: { page: '#fafafa' }, blocks }
    await call('POST', '/v1/templates', { body: { slug, subject: 'Many', blocks: given } })
    const page = (await ann.get(`${at}/${slug}`)).text
    // The menu around it grows too.
    t.ok(Buffer.byteLength(page) < 62_000, `${count}: ${Buffer.byteLength(page)} bytes`)
    t.notMatch(page, 'name="b.1.text"', 'it is closed')
    t.match(page, /class="card block closed"/)
    t.notMatch(page, /formaction="(?!\/a\/)/)
    t.match(page, `formaction="${at}/${slug}/preview#block-1"`)
    t.equal((await ann.post(`${at}/${slug}`, fieldsOf(page))).status, 303)
    t.match(await stored(slug), { version: 1, blocks: given }, 'nothing is changed')
    const press = async (fields: Record<string, string>, deed: string) =>
      (await ann.post(`${at}/${slug}/preview`, { ...fields, do: deed })).text
    const opened = await press(fieldsOf(page), 'open:1')
    t.match(opened, 'name="b.1.text"')
    t.notMatch(opened, 'name="b.0.text"')
    const written = { ...fieldsOf(opened), 'b.1.text': 'Written', 'look.width': '640' }
    const moved = await press(written, 'down:1')
    t.match(moved, 'name="b.2.text"', 'what was moved is open')
    const inColumn = await press(fieldsOf(moved), 'open:3.0.0')
    t.match(inColumn, 'name="b.3.0.0.text"', 'so is one in a column, with its columns')
    const odd = { ...fieldsOf(moved), 'b.0.kept': '{"type":"columns","columns":7}' }
    t.match(await press(odd, 'up:1'), 'Heading 2', 'what was tampered with is no fault')
    t.equal((await ann.post(`${at}/${slug}`, fieldsOf(inColumn))).status, 303)
    const after = (await stored(slug)).blocks
    t.match(after, { width: 640, colors: { page: '#fafafa' } })
    t.match(after.blocks[2], { type: 'text', text: 'Written', align: 'center' })
    t.same(after.blocks[0], some[0], 'with the name that the API gave')
    const wrong = { ...fieldsOf(page), 'look.colors.link': 'red' }
    t.match((await ann.post(`${at}/${slug}`, wrong)).text, /id="field-look\.colors\.link-fault"/)
  }
})

t.test('what is put together is saved with every answer, and comes back as it was', async (t) => {
  const fresh = fieldsOf((await ann.get(`${at}/-/new?with=blocks`)).text)
  const typed = {
    ...fresh,
    slug: 'news',
    'b.0.text': 'Hello {{ firstName }} & <co>',
    'b.0.level': '',
    'b.0.align': 'center',
    'b.1.size': '18',
    'b.2.color': '#123456',
    'b.4.text': 'You signed up.',
  }
  const made = await ann.post(`${at}/-/new`, typed)
  t.equal(made.to, `${at}/news`)
  const { blocks, html, version } = await stored('news')
  t.equal(version, 1)
  t.same(blocks.blocks[0], { type: 'heading', text: typed['b.0.text'], align: 'center' })
  t.match(blocks.blocks[1], { type: 'text', size: 18 })
  t.match(blocks.blocks[4], { type: 'footer', text: 'You signed up.' })
  t.match(html, 'Hello {{ firstName }} &amp; &lt;co&gt;')
  t.match(html, '#123456')
  const page = (await ann.get(`${at}/news`)).text
  const [, frame = ''] = /src="([^"?]*\/-\/rendered\/[^"?]*)"/.exec(page) ?? []
  t.match((await ann.get(frame)).text, /Hello .*&amp; &lt;co&gt;/)
  const again = await ann.post(`${at}/news`, fieldsOf(page))
  t.equal(again.status, 303)
  t.equal((await stored('news')).version, 1, 'what nobody changed is no version')
})

t.test('what is wrong is told beside its field, and what was typed stays', async (t) => {
  const page = fieldsOf((await ann.get(`${at}/news`)).text)
  const typed = { ...page, 'b.2.url': 'javascript:alert(1)', 'b.1.size': '900', 'b.0.text': 'Kept' }
  const { status, text } = await ann.post(`${at}/news`, typed)
  t.equal(status, 422)
  t.match(text, /id="field-b\.2\.url-fault">Write a link or a merge tag/)
  t.match(text, /id="field-b\.1\.size-fault">Write a whole number from 10 to 40/)
  t.match(text, 'value="Kept"')
  // Above the form each is named by its card, and leads there.
  t.match(text, /<li><a href="#field-b\.2\.url">Button 3, Leads to: Write a link or a merge tag/)
  t.match(text, /<li><a href="#field-b\.1\.size">Text 2, Size in pixels: Write a whole number/)
  const inColumn = {
    'b.5.type': 'columns',
    'b.5.columns': '2',
    'b.5.1.0.type': 'text',
    'b.5.1.0.size': '900',
    'look.width': '1',
  }
  const nested = (await ann.post(`${at}/news`, { ...page, ...inColumn })).text
  t.match(nested, /<li><a href="#field-b\.5\.1\.0\.size">Columns 6, Text 1, Size in pixels: Write/)
  t.match(nested, /<li><a href="#field-look\.width">Width in pixels: Write a whole number/)
  t.equal((await stored('news')).version, 1)
  const look = await ann.post(`${at}/news/preview`, typed)
  t.match(look.text, /id="field-b\.2\.url-fault">Write a link or a merge tag/, 'in a preview too')
  const tag = await ann.post(`${at}/news/preview`, { ...page, 'b.1.text': 'Hello {{ firstName' })
  t.match(tag.text, /id="field-b\.1\.text-fault"/, 'a tag that has no end is told in its card')
})

t.test('blocks become HTML for good, and an older version brings them back', async (t) => {
  const { html } = await stored('news')
  t.equal((await ann.post(`${at}/news/to-html`)).to, `${at}/news`)
  t.match(await stored('news'), { version: 2, blocks: null, html })
  t.match((await ann.get(`${at}/news`)).text, /<textarea[^>]*name="html"/)
  t.equal((await ann.post(`${at}/news/restore`, { version: '1' })).status, 303)
  t.match((await ann.get(`${at}/news`)).text, 'name="b.0.text"')
})

t.test('a picture is uploaded into its card, and blocks are kept and taken in again', async (t) => {
  const owner = await logIn(posthorn, accountId, 'owner')
  const page = fieldsOf((await owner.get(`${at}/-/new?with=blocks`)).text)
  const added = { ...page, do: 'add:0', 'kind.0': 'picture' }
  const { text } = await owner.post(`${at}/-/new/preview`, added)
  t.match(text, `formaction="${at}/-/new/blocks#block-1" formenctype="multipart/form-data"`)
  const typed = { ...fieldsOf(text), subject: 'Typed', 'b.0.text': 'Typed too' }
  const send = async (file: Buffer) => {
    const body = new FormData()
    for (const [name, value] of Object.entries(typed)) {
      if (name !== 'file.1') body.append(name, value)
    }
    body.append('do', 'upload:1')
    body.append('file.1', new Blob([new Uint8Array(file)]), 'dot.gif')
    return await owner.post(`${at}/-/new/blocks`, body)
  }
  const there = await send(gif())
  t.equal(there.status, 200)
  t.match(there.text, /name="b\.1\.url"[^>]*value="http[^"]*\/pictures\/[^"]*\.gif"/)
  t.match(there.text, 'value="Typed too"', 'what was typed stays')
  const wrong = await send(Buffer.from('no picture'))
  t.equal(wrong.status, 422)
  t.match(wrong.text, /id="field-b\.1\.url-fault">dot\.gif: A picture must be/)
  t.match(wrong.text, 'value="Typed too"')

  const keeping = { ...typed, do: 'keep:', keepWhich: '0', keepAs: '!!!' }
  const refused = await owner.post(`${at}/-/new/blocks`, keeping)
  t.equal(refused.status, 422)
  t.match(refused.text, /id="field-keepAs-fault"/)
  const kept = await owner.post(`${at}/-/new/blocks`, { ...keeping, keepAs: 'Our head' })
  t.match(kept.text, `They are kept as <a href="${at}/our-head">`)
  const { subject, blocks } = await stored('our-head')
  t.equal(subject, 'Typed')
  t.match(blocks.blocks, [{ type: 'heading', text: 'Typed too' }])
  t.equal(blocks.blocks.length, 1)
  const again = await owner.post(`${at}/-/new/blocks`, {
    ...keeping,
    subject: 'Other',
    keepAs: 'our-head',
  })
  t.equal(again.status, 422)
  t.match(again.text, /There is a template &quot;our-head&quot; already/)
  const inserting = { ...page, do: 'insert:', insertFrom: 'our-head' }
  const taken = (await owner.post(`${at}/-/new/preview`, inserting)).text
  t.same(titles(taken).at(-1), 'Heading 6')
  t.match(taken, /name="b\.5\.text"[^>]*value="Typed too"/)
  // At a place of its own; what stands behind it keeps its answers.
  const second = { ...inserting, 'b.1.text': 'Was second', insertAt: '0' }
  const between = (await owner.post(`${at}/-/new/preview`, second)).text
  t.match(between, /href="#block-1">Go to the first/)
  t.match(between, /name="b\.1\.text"[^>]*value="Typed too"/)
  t.match(between, 'Was second')
  t.same(titles(between).slice(0, 2), ['Heading 1', 'Heading 2'])
  t.equal(titles(between).length, titles(taken).length)
  const top = await owner.post(`${at}/-/new/preview`, { ...second, insertAt: '-1' })
  t.match(top.text, /name="b\.0\.text"[^>]*value="Typed too"/)
  // Renamed and removed where it is used.
  const here = { ...typed, insertFrom: 'our-head' }
  const store = (more: Record<string, string>) =>
    owner.post(`${at}/-/new/blocks`, { ...here, ...more })
  t.match(await store({ do: 'rename:', renameTo: 'news' }), {
    status: 422,
    text: /id="field-renameTo-fault">There is a template &quot;news&quot; already/,
  })
  const renamed = await store({ do: 'rename:', renameTo: 'top' })
  t.match(renamed.text, `They are kept as <a href="${at}/top">`)
  t.match(renamed.text, 'value="Typed too"')
  t.match(await stored('top'), { subject: 'Typed' })
  const gone = await store({ do: 'remove:', insertFrom: 'top' })
  t.match(gone.text, 'Top is removed.')
  // Somebody else has taken it away meanwhile.
  const noMore = { status: 422, text: /id="field-insertFrom-fault">“Top” is not kept any more/ }
  for (const path of [`${at}/-/new/preview`, `${at}/news/preview`]) {
    const answer = await owner.post(path, { ...typed, do: 'insert:', insertFrom: 'top' })
    t.match(answer, noMore)
    t.match(answer.text, 'value="Typed too"')
  }
  for (const pressed of ['remove:', 'rename:']) {
    const answer = await store({ do: pressed, renameTo: 'head', insertFrom: 'top' })
    t.match(answer, noMore)
    t.match(answer.text, 'value="Typed too"')
  }
  const eve = await logIn(posthorn, accountId, 'viewer')
  t.equal((await eve.post(`${at}/news/blocks`, keeping)).status, 403)
})

t.test(
  'the merge tags that there are for the contacts stand beside the blocks and the HTML',
  async (t) => {
    const { id } = (await call('POST', '/v1/contacts/lists', { body: { name: 'All' } })).json
    const metadata = { city: 'Lagos', 'x y': 1, deep: { a: 1 }, '<b>': 'x', firstName: 'no' }
    await call('POST', `/v1/contacts/${id}`, { body: { email: 'a@x.test', metadata } })
    for (const path of ['/-/new', '/-/new?with=blocks', '/news']) {
      const { text } = await ann.get(at + path)
      t.match(text, '<code>{{ firstName | default: &quot;there&quot; }}</code>', path)
      t.match(text, '<code>{{ city | default: &quot;&quot; }}</code>', 'their own fields too')
      t.match(text, '<code>{{ unsubscribe_url }}</code>')
      t.notMatch(text, 'view_url', 'of campaigns alone')
      for (const none of ['x y', 'deep', '&lt;b&gt;']) t.notMatch(text, `<code>{{ ${none} `, none)
    }
  },
)

t.test('a viewer sees the blocks and changes none', async (t) => {
  const eve = await logIn(posthorn, accountId, 'viewer')
  const { text } = await eve.get(`${at}/news`)
  t.match(text, 'name="b.0.text"')
  t.notMatch(text, 'name="do"')
  t.equal((await eve.post(`${at}/news`, fieldsOf(text))).status, 403)
})
