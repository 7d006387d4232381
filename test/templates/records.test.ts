import t from 'tap'
import { createAccount } from '../../src/accounts/index.js'
import { silentLog } from '../../src/log/index.js'
import {
  deleteTemplate,
  findTemplate,
  listTemplates,
  listVersions,
  openRenderer,
  putTemplate,
  type TemplateDraft,
} from '../../src/templates/index.js'
import { FakeClock } from '../support/clock.js'
import { openTestStore } from '../support/store.js'

async function openTemplates(t: Parameters<typeof openTestStore>[0]) {
  const clock = new FakeClock()
  const store = await openTestStore(t, { clock })
  const renderer = openRenderer({ log: silentLog, clock })
  t.teardown(() => renderer.close())
  const [one, two] = [
    (await createAccount({ store, clock }, 'One')).id,
    (await createAccount({ store, clock }, 'Two')).id,
  ]
  const put = (accountId: string, draft: Partial<TemplateDraft>) =>
    putTemplate({ store, clock, renderer }, accountId, {
      slug: 'welcome',
      subject: 'Hi',
      html: '<p>{{ name }}',
      ...draft,
    })
  return { clock, store, read: store.read, one, two, put }
}

t.test('every save makes a version; the last is in use, the older ones stay', async (t) => {
  const { clock, read, one, put } = await openTemplates(t)
  const first = await put(one, { textBody: 'Text' })
  const start = clock.now()
  t.match(first, { slug: 'welcome', version: 1, textBody: 'Text', savedAt: start })
  await clock.advance(1_000)
  const second = await put(one, { subject: 'Hello', html: '<b>', textBody: '' })
  t.match(second, { version: 2, textBody: null, savedAt: start + 1_000 })
  await put(one, { subject: 'Hello', html: '<b>', textBody: '' })
  t.same(await findTemplate(read, one, 'welcome', 1), first)
  t.same(await findTemplate(read, one, 'welcome', 2), second)
  t.match(await findTemplate(read, one, 'welcome'), { version: 3, subject: 'Hello', html: '<b>' })
  t.same(await listVersions(read, one, 'welcome'), [
    { version: 3, subject: 'Hello', savedAt: start + 1_000 },
    { version: 2, subject: 'Hello', savedAt: start + 1_000 },
    { version: 1, subject: 'Hi', savedAt: start },
  ])
  await put(one, { slug: 'a-2_b', subject: 'Other' })
  t.same(await listTemplates(read, one), [
    ...[{ slug: 'a-2_b', version: 1, subject: 'Other' }].map((s) => ({
      ...s,
      createdAt: start + 1_000,
      savedAt: start + 1_000,
    })),
    { slug: 'welcome', version: 3, subject: 'Hello', createdAt: start, savedAt: start + 1_000 },
  ])
})

t.test('saves at the same time get versions of their own', async (t) => {
  const { read, one, put } = await openTemplates(t)
  const saved = await Promise.all([1, 2, 3, 4].map((n) => put(one, { subject: `S${n}` })))
  t.same(saved.map(({ version }) => version).sort(), [1, 2, 3, 4])
  for (const version of saved)
    t.same(await findTemplate(read, one, 'welcome', version.version), version)
})

t.test(
  'a slug is case-sensitive and its account\u2019s own; one that matches none is a 404',
  async (t) => {
    const { store, read, one, two, put } = await openTemplates(t)
    await put(one, {})
    await put(two, { slug: 'other' })
    for (const [account, slug] of [
      [one, 'Welcome'],
      [one, 'other'],
      [two, 'welcome'],
      [one, ''],
      [one, 'welcome '],
    ] as const) {
      const missing = {
        code: 'not_found',
        status: 404,
        message: `The account has no template "${slug}"`,
      }
      await t.rejects(findTemplate(read, account, slug), missing)
      await t.rejects(listVersions(read, account, slug), missing)
      await t.rejects(deleteTemplate({ store }, account, slug), missing)
    }
    await t.rejects(findTemplate(read, one, 'welcome', 2), {
      message: 'The account has no template "welcome" with a version 2',
    })
    await t.rejects(findTemplate(read, one, 'x'.repeat(1_000)), {
      message: `The account has no template "${'x'.repeat(64)}…"`,
    })
  },
)

t.test('a deleted template is gone with its versions; its slug begins anew', async (t) => {
  const { store, read, one, two, put } = await openTemplates(t)
  const first = await put(one, {})
  await put(one, {})
  await put(two, {})
  await deleteTemplate({ store }, one, 'welcome')
  t.same(await listTemplates(read, one), [])
  t.equal((await listTemplates(read, two)).length, 1)
  t.equal((await read.selectFrom('template_versions').selectAll().execute()).length, 1)
  const again = await put(one, {})
  t.equal(again.version, 1)
  t.not(again.versionId, first.versionId)
})

t.test('what is no template is refused with a 422, and nothing is saved', async (t) => {
  const { read, one, put } = await openTemplates(t)
  const table: [draft: Partial<TemplateDraft>, message: RegExp, fields: object][] = [
    ...['', 'Welcome', '-a', 'a b', 'é', 'a'.repeat(65)].map(
      (slug): [Partial<TemplateDraft>, RegExp, object] => [
        { slug },
        /^A template's slug/,
        { field: 'slug' },
      ],
    ),
    [{ subject: ' ' }, /subject must not be empty/, { field: 'subject' }],
    [{ subject: 'x'.repeat(4097) }, /subject may have at most 4096 bytes/, { field: 'subject' }],
    [{ html: '' }, /html must not be empty/, { field: 'html' }],
    [{ html: 'é'.repeat(131_073) }, /html may have at most 262144 bytes/, { field: 'html' }],
    [{ textBody: 'a\0' }, /textBody must not have a NUL/, { field: 'textBody' }],
    [{ textBody: 'é'.repeat(131_073) }, /textBody may have at most/, { field: 'textBody' }],
    [
      { html: '<p>\n <b>{{ name | shout }}' },
      /^Template "welcome" has a syntax error: “shout” in .* is no filter; what stands in for nothing is written as in \{\{ firstName \| default: "you" \}\} \(html, line 2, column 5\)$/,
      { part: 'html', line: 2, column: 5 },
    ],
    [{ subject: '{% if %}' }, /subject, line 1/, { part: 'subject', line: 1 }],
    [{ textBody: '{{ a' }, /text, line 1, column 1/, { part: 'text', line: 1, column: 1 }],
    [{ html: '{{a}}'.repeat(1_001) }, /1001 tags; at most 1000/, { part: 'html' }],
  ]
  for (const [draft, message, fields] of table) {
    await t.rejects(put(one, draft), { code: 'validation_error', status: 422, message, fields })
  }
  t.same(await listTemplates(read, one), [])
})
